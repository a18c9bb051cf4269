import type { Page } from 'playwright-core';
import { beforeAll, expect, it } from 'vitest';
import { CONSOLE_PAGES } from '../builders/console-pages.ts';
import { needsProgram } from '../builders/needs-program.ts';
import { withConsole } from './console-fixture.ts';
import { axeFindings } from './axe-findings.ts';

const shown = async (page: Page) => {
  await page.locator('main h1').waitFor();
  await page.locator('main tbody tr').filter({ visible: true }).first().waitFor();
};

/** Runs in the browser: returns the labels of all visible tables that are wider than their scrollable region. */
const WIDE_TABLES = `[...document.querySelectorAll('main .scroll:has(table:not(.matrix))')]
  .filter((region) => region.checkVisibility() && region.scrollWidth > region.clientWidth)
  .map((region) => region.getAttribute('aria-label'))`;

/** Runs in the browser: returns the labels of all matrices whose row names scroll out of view. */
const LOST_ROW_NAMES = `[...document.querySelectorAll('main .scroll:has(.matrix)')]
  .filter((region) => {
    region.scrollLeft = 10_000;
    const left = region.querySelector('tbody th').getBoundingClientRect().left;
    region.scrollLeft = 0;
    return left < region.getBoundingClientRect().left;
  })
  .map((region) => region.getAttribute('aria-label'))`;

const LIGHT = 'rgb(245, 246, 248)';
const DARK = 'rgb(15, 20, 26)';
const groundOf = (page: Page) => page.evaluate<string>('getComputedStyle(document.documentElement).backgroundColor');
const focused = (page: Page) => page.evaluate<string>('document.activeElement.textContent.trim()');

needsProgram('chromium', 'how the console looks', (path) => {
  const { gateway, visit } = withConsole(path, {
    chaos: ['wrong-type:creationDate@6'],
    config: { changes: { lists: [], folder: ':memory:' } },
  });
  beforeAll(async () => {
    await gateway().call('/services/v2/question.json');
    await gateway().call('/services/v2/idea.json');
    await gateway().call('/services/v2/question.json?page=x');
    await gateway().admin('/cache/purge', { method: 'POST', body: {} });
  });

  // All pages share one visit. Each page is opened on a phone-sized screen in dark mode, which shows that it is also
  // correct when it loads in that state, not only after switching to it.
  it('every page needs no horizontal scrolling on a narrow phone, and axe finds nothing in any color scheme or width, or in a dialog', async () => {
    await visit(
      '#/fleet',
      async (page) => {
        const findings: Record<string, string[]> = {};
        for (const name of CONSOLE_PAGES) {
          await page.emulateMedia({ colorScheme: 'dark', forcedColors: 'none' });
          await page.setViewportSize({ width: 360, height: 740 });
          await page.evaluate(`location.hash = '#/${name}'`);
          await page.locator(`nav a[href="#/${name}"][aria-current]`).waitFor();
          await shown(page);
          const [width, room] = await page.evaluate<[number, number]>(
            '[document.documentElement.scrollWidth, innerWidth]',
          );
          expect([name, width <= room, room]).toEqual([name, true, 360]);
          // On a phone, no table may require horizontal scrolling. A matrix may, but its row names must stay visible.
          await page.setViewportSize({ width: 390, height: 844 });
          expect([name, await page.evaluate(WIDE_TABLES)]).toEqual([name, []]);
          expect([name, await page.evaluate(LOST_ROW_NAMES)]).toEqual([name, []]);
          await page.setViewportSize({ width: 360, height: 740 });
          // The navigation is wider than the screen, but the current page's name must be visible.
          const [left, right] = await page.evaluate<[number, number]>(
            '(({ left, right }) => [left, right])(document.querySelector("nav [aria-current]").getBoundingClientRect())',
          );
          expect([name, left >= 0, right <= 360]).toEqual([name, true, true]);
          expect(await groundOf(page)).toBe(DARK);
          findings[`${name}, dark phone`] = await axeFindings(page, 'colors');
          await page.emulateMedia({ colorScheme: 'light' });
          expect(await groundOf(page)).toBe(LIGHT);
          findings[`${name}, light phone`] = await axeFindings(page);
          await page.setViewportSize({ width: 1280, height: 800 });
          findings[`${name}, light desktop`] = await axeFindings(page);
          await page.emulateMedia({ colorScheme: 'dark' });
          findings[`${name}, dark desktop`] = await axeFindings(page, 'colors');
          await page.emulateMedia({ colorScheme: 'dark', forcedColors: 'active' });
          expect(await page.evaluate('matchMedia("(forced-colors: active)").matches')).toBe(true);
          findings[`${name}, colors of the system`] = await axeFindings(page, 'colors');
        }
        expect(Object.keys(findings)).toHaveLength(5 * CONSOLE_PAGES.length);

        await page.emulateMedia({ colorScheme: 'light', forcedColors: 'none' });
        await page.evaluate("location.hash = '#/violations'");
        await page.locator('tbody a').first().click();
        await page.getByRole('heading', { name: 'Sample requests' }).waitFor();
        findings['one violation'] = await axeFindings(page);
        await page.evaluate("location.hash = '#/cache'");
        await page.getByRole('button', { name: 'Purge everything' }).click();
        await page.getByRole('dialog', { name: 'Purge everything?' }).waitFor();
        findings['a dialog'] = await axeFindings(page);
        expect(Object.entries(findings).filter(([, found]) => found.length > 0)).toEqual([]);
      },
      { colorScheme: 'dark', viewport: { width: 360, height: 740 } },
    );
  });

  it("follows the system's color scheme, including the charts, and shows no motion if the system asks for that", async () => {
    const moving = 'getComputedStyle(document.querySelector(".skip")).transitionDuration';
    await visit(
      '',
      async (page) => {
        expect(await page.evaluate(moving)).toBe('0s');
        expect(await page.evaluate('document.getAnimations().length')).toBe(0);
        await shown(page);
        await page.locator('canvas').first().waitFor();
        expect(await groundOf(page)).toBe(LIGHT);
        await page.emulateMedia({ colorScheme: 'dark' });
        expect(await groundOf(page)).toBe(DARK);
        await page.locator('canvas').first().waitFor();
        await page.emulateMedia({ reducedMotion: 'no-preference' });
        expect(await page.evaluate(moving)).toBe('0.12s');
      },
      { colorScheme: 'light', reducedMotion: 'reduce' },
    );
  });

  it('can be used with the keyboard alone: skip link, pages, a filter, a dialog and back', async () => {
    await visit('#/traffic', async (page) => {
      await shown(page);
      await page.keyboard.press('Tab');
      expect(await focused(page)).toBe('Skip to the content');
      await page.keyboard.press('Enter');
      expect(await page.evaluate('document.activeElement.id')).toBe('main');
      await page.getByRole('link', { name: 'Cache', exact: true }).focus();
      await page.keyboard.press('Enter');
      await page.getByRole('heading', { name: 'Cache', level: 1 }).waitFor();
      await page.locator('#main:focus').waitFor();
      await page.getByRole('main', { name: 'Cache' }).waitFor();
      await page.getByRole('button', { name: 'Purge everything' }).waitFor();
      await page.keyboard.press('Tab');
      expect(await focused(page)).toBe('Purge everything');
      await page.keyboard.press('Enter');
      await page.getByRole('dialog', { name: 'Purge everything?' }).waitFor();
      await page.keyboard.press('Escape');
      await page.getByRole('dialog').waitFor({ state: 'detached' });
      await page.locator('button:focus', { hasText: 'Purge everything' }).waitFor();
      await page.keyboard.press('Enter');
      await page.getByRole('dialog').waitFor();
      await page.keyboard.press('Tab');
      await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).press('Enter');
      await page.getByRole('dialog').waitFor({ state: 'detached' });
      await page.locator('button:focus', { hasText: 'Purge everything' }).waitFor();
      // This page has a sortable table.
      await page.getByRole('button', { name: 'Size' }).first().focus();
      await page.keyboard.press('Enter');
      await page.locator('th[aria-sort="descending"]').waitFor();
      // The focus ring must be visible.
      expect(await page.evaluate('getComputedStyle(document.activeElement).outlineStyle')).toBe('solid');
    });
  });
});

import type { Page } from 'playwright-core';

/** The usual widths of the operators' windows, in CSS pixels. */
const WIDTHS = [768, 1024, 1280, 1440];

/**
 * Runs in the browser: returns the words that continue on the next line, and the words that touch the next word on the
 * same line although the page's source separates them.
 */
const FAULTS = `(() => {
  const root = document.querySelector('dialog[open]') ?? document.querySelector('main');
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  const faults = document.documentElement.scrollWidth > innerWidth ? ['wider than the window'] : [];
  let before;
  for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
    if (node.data.trim() === '' || !node.parentElement.checkVisibility() || node.parentElement.closest('.unseen, svg, pre, option')) continue;
    const rectsOf = (from, to) => {
      const range = document.createRange();
      range.setStart(node, from);
      range.setEnd(node, to);
      return [...range.getClientRects()].filter(({ width }) => width > 0);
    };
    for (const { 0: word, index } of node.data.matchAll(/[A-Za-z]{2,40}/g)) {
      const tops = new Set(rectsOf(index, index + word.length).map(({ top }) => Math.round(top)));
      if (tops.size > 1) faults.push('broken: ' + word);
    }
    const rects = rectsOf(0, node.data.length);
    const [first, last] = [rects[0], rects.at(-1)];
    if (first === undefined) continue;
    if (before !== undefined && node.previousSibling?.nodeName !== 'WBR' && /\\w$/.test(before.text) && /^[\\w/]/.test(node.data)) {
      const gap = first.left - before.right;
      if (first.top < before.bottom && first.bottom > before.top && Math.abs(gap) < 1.5) faults.push('joined: ' + before.text.slice(-20) + '|' + node.data.slice(0, 20));
    }
    before = { text: node.data, right: last.right, top: last.top, bottom: last.bottom };
  }
  return faults;
})()`;

/**
 * Returns the broken and joined words of a page at each usual width, or those of its open dialog, and the widths at which
 * the page would have to be scrolled horizontally. The name of the page
 * appears in the results. If `PORTICO_TEST_SCREENSHOTS` names a folder, a screenshot of each width is written to it.
 */
export async function wordFaults(page: Page, name: string): Promise<readonly string[]> {
  const found: string[] = [];
  for (const width of WIDTHS) {
    await page.setViewportSize({ width, height: 900 });
    // The charts are drawn again one frame after their width has changed.
    await page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))');
    const faults = await page.evaluate<string[]>(FAULTS);
    found.push(...faults.map((fault) => `${name} at ${width}: ${fault}`));
    const folder = process.env['PORTICO_TEST_SCREENSHOTS'];
    if (folder !== undefined) await page.screenshot({ path: `${folder}/${name}-${width}.png`, fullPage: true });
  }
  return found;
}

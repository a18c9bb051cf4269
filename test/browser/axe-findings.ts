import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright-core';

interface Finding {
  readonly id: string;
  readonly impact: string | null;
  readonly nodes: readonly { readonly html: string }[];
}

// The minified script is half as long as the one that the package exports, so each page parses it faster.
const AXE = readFileSync(fileURLToPath(import.meta.resolve('axe-core/axe.min.js')), 'utf8');

/** The axe rules whose results depend on colors. All other rules give the same results for dark and light pages. */
const COLOR_RULES = ['color-contrast', 'link-in-text-block'];

/**
 * Runs in the browser. Makes axe compute the contrast only once per visit for elements that look the same. Axe spends
 * most of its time on contrast, and table rows and page headers look alike. Elements look the same if all styles that
 * determine the contrast are equal: the text's, and the backgrounds of the element and its ancestors. Axe always
 * checks elements that might cover others, and elements that look different from all those that have passed.
 */
const SHARE_CONTRASTS = `(() => {
  const rule = axe._audit.rules.find(({ id }) => id === 'color-contrast');
  const check = axe._audit.checks['color-contrast'];
  const { matches } = rule;
  const { evaluate } = check;
  const passed = new Set();
  let grounds;
  const groundOf = (element) => {
    if (element === null) return '';
    if (!grounds.has(element)) {
      const { position, backgroundColor, backgroundImage, opacity, mixBlendMode } = getComputedStyle(element);
      const below = groundOf(element.parentElement);
      const own = [backgroundColor, backgroundImage, opacity, mixBlendMode].join(' ');
      const covers = below === undefined || position === 'absolute' || position === 'fixed';
      grounds.set(element, covers ? undefined : below + own + '; ');
    }
    return grounds.get(element);
  };
  const lookOf = (element) => {
    const ground = groundOf(element);
    const { color, fontSize, fontWeight, textShadow, webkitTextStroke } = getComputedStyle(element);
    return ground && ground + [color, fontSize, fontWeight, textShadow, webkitTextStroke].join(' ');
  };
  const silent = { data() {}, relatedNodes() {} };
  rule.matches = (element, virtualElement) => {
    const look = lookOf(element);
    if (passed.has(look) || !matches(element, virtualElement)) return false;
    const passes = () => evaluate.call(silent, element, check.options, virtualElement) === true;
    if (look !== undefined && axe.commons.dom.isVisibleOnScreen(element) && passes()) passed.add(look);
    return true;
  };
  window.runAxe = (options) => {
    grounds = new Map();
    return axe.run(document, options);
  };
})()`;

/**
 * Returns axe's accessibility findings for a page, including minor ones, as lines of text. With `colors`, only the
 * color rules run. That is enough if all rules have already run on the page in a different color scheme.
 */
export async function axeFindings(page: Page, rules: 'all' | 'colors' = 'all'): Promise<string[]> {
  // The debugger evaluates axe, because the pages' content security policies allow no other scripts.
  if (await page.evaluate("typeof runAxe === 'undefined'")) await page.evaluate(`${AXE}; ${SHARE_CONTRASTS}`);
  const options = { resultTypes: ['violations'], ...(rules === 'colors' && { runOnly: COLOR_RULES }) };
  const found = await page.evaluate<{ violations: readonly Finding[] }>(`runAxe(${JSON.stringify(options)})`);
  return found.violations.flatMap(({ id, impact, nodes }) =>
    nodes.map(({ html }) => `${String(impact)} ${id}: ${html.slice(0, 200)}`),
  );
}

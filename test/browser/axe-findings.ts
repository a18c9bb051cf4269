import axe from 'axe-core';
import type { Page } from 'playwright-core';

interface Finding {
  readonly id: string;
  readonly impact: string | null;
  readonly nodes: readonly { readonly html: string }[];
}

/** The axe rules whose result depends on colors. All other rules have the same result for a dark and a light page. */
const COLOR_RULES = ['color-contrast', 'link-in-text-block'];

/**
 * Returns axe's accessibility findings for a page as lines, including minor ones. With `colors`, only the color rules
 * run, which is enough for a page that was checked with all rules in another color scheme.
 */
export async function axeFindings(page: Page, rules: 'all' | 'colors' = 'all'): Promise<string[]> {
  if (await page.evaluate("typeof axe === 'undefined'")) await page.evaluate(axe.source);
  const options = { resultTypes: ['violations'], ...(rules === 'colors' && { runOnly: COLOR_RULES }) };
  const found = await page.evaluate<{ violations: readonly Finding[] }>(
    `axe.run(document, ${JSON.stringify(options)})`,
  );
  return found.violations.flatMap(({ id, impact, nodes }) =>
    nodes.map(({ html }) => `${String(impact)} ${id}: ${html.slice(0, 200)}`),
  );
}

import axe from 'axe-core';
import type { Page } from 'playwright-core';

interface Finding {
  readonly id: string;
  readonly impact: string | null;
  readonly nodes: readonly { readonly html: string }[];
}

/** The axe rules whose results depend on colors. All other rules give the same results for dark and light pages. */
const COLOR_RULES = ['color-contrast', 'link-in-text-block'];

/**
 * Returns axe's accessibility findings for a page, including minor ones, as lines of text. With `colors`, only the
 * color rules run. That is enough if all rules have already run on the page in a different color scheme.
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

import axe from 'axe-core';
import type { Page } from 'playwright-core';

interface Finding {
  readonly id: string;
  readonly impact: string | null;
  readonly nodes: readonly { readonly html: string }[];
}

/** What axe finds against the accessibility of a page, small things too, as lines. */
export async function axeFindings(page: Page): Promise<string[]> {
  await page.evaluate(axe.source);
  const found = await page.evaluate<{ violations: readonly Finding[] }>(
    "axe.run(document, { resultTypes: ['violations'] })",
  );
  return found.violations.flatMap(({ id, impact, nodes }) =>
    nodes.map(({ html }) => `${String(impact)} ${id}: ${html.slice(0, 200)}`),
  );
}

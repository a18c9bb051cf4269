import { HTML_STYLE } from './html-style.ts';
import { escapeMarkup } from './plain-text.ts';
import { timeWords } from './report-words.ts';

/** A page that asks for nothing else: it can be kept, mailed and opened without a network. `lines` are HTML. */
export function htmlPage(title: string, lines: readonly string[]): string {
  return [
    '<!doctype html>',
    '<html lang="en">',
    '<head>',
    '<meta charset="utf-8">',
    // The page keeps to the strictest policy by itself, wherever it is opened.
    `<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">`,
    '<meta name="viewport" content="width=device-width, initial-scale=1">',
    `<title>${escapeMarkup(title)}</title>`,
    `<style>${HTML_STYLE}</style>`,
    '</head>',
    '<body>',
    '<main>',
    `<h1>${escapeMarkup(title)}</h1>`,
    ...lines,
    '</main>',
    '</body>',
    '</html>',
  ].join('\n');
}

/** A table of rows that are HTML already. */
export function htmlTable(caption: string, names: readonly string[], rows: readonly string[]): readonly string[] {
  return [
    // Scrolls by itself on a narrow screen, with the keyboard too.
    `<div class="wide" tabindex="0" role="region" aria-label="${escapeMarkup(caption)}">`,
    '<table>',
    `<caption>${escapeMarkup(caption)}</caption>`,
    `<thead><tr>${names.map((name) => `<th scope="col">${name}</th>`).join('')}</tr></thead>`,
    '<tbody>',
    ...rows,
    '</tbody>',
    '</table>',
    '</div>',
  ];
}

/** An instant, in UTC. */
export const htmlTime = (at: number): string =>
  `<time datetime="${new Date(at).toISOString()}">${timeWords(at)}</time>`;

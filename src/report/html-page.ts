import { escapeMarkup } from './plain-text.ts';
import { timeWords } from './report-words.ts';

/** Returns an HTML page without external resources, which can be stored, mailed and opened offline. `lines` are HTML. */
export function htmlPage(title: string, lines: readonly string[]): string {
  return [
    '<!doctype html>',
    '<html lang="en">',
    '<head>',
    '<meta charset="utf-8">',
    // The page has the strictest policy wherever it is opened.
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

/** Returns a table; the rows are HTML. */
export function htmlTable(caption: string, names: readonly string[], rows: readonly string[]): readonly string[] {
  return [
    // The table scrolls on a narrow screen, also with the keyboard.
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

/** Formats an instant (epoch ms) in UTC. */
export const htmlTime = (at: number): string =>
  `<time datetime="${new Date(at).toISOString()}">${timeWords(at)}</time>`;

/** The style of the HTML report, light and dark, for screens and paper. */
const HTML_STYLE = `
:root { color-scheme: light dark; --text: #1b1f24; --soft: #57606a; --line: #d0d7de; --back: #ffffff; --head: #f6f8fa;
  --new: #a40e26; --accepted: #116329; --expired: #7a4d00; }
@media (prefers-color-scheme: dark) { :root { --text: #e6edf3; --soft: #9ea7b3; --line: #3d444d; --back: #0d1117;
  --head: #161b22; --new: #ff8b80; --accepted: #6ad587; --expired: #e3b341; } }
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 1.5rem; max-width: 80rem; color: var(--text); background: var(--back);
  font: 1rem/1.5 system-ui, sans-serif; }
h1 { font-size: 1.5rem; margin: 0 0 .5rem; }
h2 { font-size: 1.15rem; margin: 2rem 0 .5rem; }
p { margin: .25rem 0 .75rem; }
.soft, time { color: var(--soft); }
.wide { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; }
caption { text-align: left; padding: .25rem 0; color: var(--soft); }
th, td { padding: .4rem .6rem; text-align: left; vertical-align: top; border-bottom: 1px solid var(--line); }
thead th { background: var(--head); }
tbody th { font-weight: 600; }
tbody th code { overflow-wrap: break-word; } time { white-space: nowrap; }
td.number { text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums; }
code { font: .875em/1.4 ui-monospace, monospace; overflow-wrap: anywhere; }
.state { font-weight: 600; white-space: nowrap; }
.new { color: var(--new); } .accepted { color: var(--accepted); } .expired { color: var(--expired); }
summary { cursor: pointer; }
summary:focus-visible { outline: 2px solid currentColor; outline-offset: 2px; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .1rem .75rem; margin: .25rem 0; }
dt { color: var(--soft); } dd { margin: 0; overflow-wrap: anywhere; }
@media (max-width: 40rem) { body { padding: .75rem; } th, td { padding: .3rem .4rem; } dl { display: block; }
  dd { margin-bottom: .3rem; } td:has(details, br) { min-width: 13rem; } }
@media print { :root { --text: #000; --soft: #333; --line: #888; --back: #fff; --head: #eee; --new: #000; --accepted: #000;
  --expired: #000; } body { max-width: none; padding: 0; font-size: 9pt; } tr { break-inside: avoid; }
  thead { display: table-header-group; } .wide { overflow: visible; } }
`;

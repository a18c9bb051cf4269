import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Returns a Markdown table. The cells are Markdown; only the vertical bars in them are escaped. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = rows.map((cells) => `| ${cells.map((cell) => cell.replaceAll('|', String.raw`\|`)).join(' | ')} |`);
  return [`| ${head.join(' | ')} |`, `|${'---|'.repeat(head.length)}`, ...lines].join('\n');
}

/** Returns text as inline code. */
export const code = (text: string): string => `\`${text}\``;

/** Replaces the paths of pages in a text, such as docs/rules.md#7-responses, with links for a page in docs/. */
export const withLinks = (text: string): string =>
  text.replaceAll(
    /\bdocs\/([\w/-]+\.md)(?:#([\w-]+))?/g,
    (_, page: string, anchor: string | undefined) =>
      `[${headingOf(page, anchor)}](${page}${anchor === undefined ? '' : `#${anchor}`})`,
  );

/** Returns the heading to which an anchor leads, or the title of the page, without its number. */
function headingOf(page: string, anchor: string | undefined): string {
  const text = readFileSync(join(import.meta.dirname, '../../docs', page), 'utf8');
  const headings = [...text.matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) => heading);
  const found = anchor === undefined ? headings[0] : headings.find((heading) => anchorOf(heading) === anchor);
  if (found === undefined) throw new Error(`docs/${page} has no heading for #${anchor}`);
  return found.replace(/^(?:ADR )?\d+[.:]? /, '');
}

const anchorOf = (heading: string) =>
  heading
    .toLowerCase()
    .replaceAll(/[^\w\s-]/g, '')
    .replaceAll(' ', '-');

/** Replaces the text between the page's markers for this part. Throws if a marker is missing. */
export function withPart(page: string, name: string, text: string): string {
  const [begin, end] = [`<!-- ${name}: begin -->`, `<!-- ${name}: end -->`];
  const [from, to] = [page.indexOf(begin), page.indexOf(end)];
  if (from < 0 || to < from) throw new Error(`the page does not contain ${begin} and ${end}`);
  return `${page.slice(0, from)}${begin}\n\n${text}\n\n${page.slice(to)}`;
}

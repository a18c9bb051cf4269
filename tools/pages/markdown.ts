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
    /\bdocs\/((?:adr\/)?([\w-]+)\.md(?:#([\w-]+))?)/g,
    (_, target: string, page: string, anchor: string | undefined) =>
      `[${(anchor ?? page).replaceAll('-', ' ').replace(/^\d+ /, '')}](${target})`,
  );

/** Replaces the text between the page's markers for this part. Throws if a marker is missing. */
export function withPart(page: string, name: string, text: string): string {
  const [begin, end] = [`<!-- ${name}: begin -->`, `<!-- ${name}: end -->`];
  const [from, to] = [page.indexOf(begin), page.indexOf(end)];
  if (from < 0 || to < from) throw new Error(`the page does not contain ${begin} and ${end}`);
  return `${page.slice(0, from)}${begin}\n\n${text}\n\n${page.slice(to)}`;
}

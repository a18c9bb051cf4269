import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The repository's root. */
export const ROOT = join(import.meta.dirname, '..', '..');

/** Returns the text of a file in the repository. */
export const readText = (path: string): string => readFileSync(join(ROOT, path), 'utf8');

/** Returns the lines of a Markdown string between a second-level heading and the next one. */
export function sectionOf(markdown: string, heading: string): string {
  const [, rest] = markdown.split(`\n## ${heading}\n`);
  if (rest === undefined) throw new Error(`there is no section "${heading}"`);
  return rest.split('\n## ')[0] ?? '';
}

/** Returns the rows of all tables in a Markdown string, keyed by column header. Backticks around code are removed. */
export function tablesOf(markdown: string): readonly (readonly Readonly<Record<string, string>>[])[] {
  const blocks = markdown.match(/(?:^\|.*\|$\n?)+/gm) ?? [];
  return blocks.map((block) => {
    const [head = [], , ...rows] = block.trim().split('\n').map(cellsOf);
    return rows.map((cells) => Object.fromEntries(head.map((name, at) => [name, cells[at] ?? ''])));
  });
}

/** Returns the rows in the table whose first column has this header. */
export function tableBy(markdown: string, firstHeader: string): readonly Readonly<Record<string, string>>[] {
  const table = tablesOf(markdown).find(([row]) => row !== undefined && Object.keys(row)[0] === firstHeader);
  if (table === undefined) throw new Error(`there is no table that begins with "${firstHeader}"`);
  return table;
}

function cellsOf(line: string): string[] {
  const cells = line.slice(1, -1).split(/(?<!\\)\|/);
  return cells.map((cell) => cell.trim().replaceAll('\\|', '|').replaceAll('`', ''));
}

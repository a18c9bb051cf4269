import { parseSync } from 'vite';
import type { SourceFile } from '../../tools/structure.ts';

/** A regular expression in a source file. */
interface Pattern {
  readonly source: string;
  readonly flags: string;
  readonly line: number;
}

/** Returns the regular expression literals of a source file. */
export function patternsOf({ path, text }: SourceFile): Pattern[] {
  const found: Pattern[] = [];
  const visit = (node: unknown): void => {
    if (typeof node !== 'object' || node === null) return;
    if ('regex' in node && 'start' in node) {
      const { pattern, flags } = node.regex as { readonly pattern: string; readonly flags: string };
      const line = text.slice(0, Number(node.start)).split('\n').length;
      found.push({ source: pattern, flags, line });
      return;
    }
    for (const child of Object.values(node)) visit(child);
  };
  visit(parseSync(path, text).program);
  return found;
}

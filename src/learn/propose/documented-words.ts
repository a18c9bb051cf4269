import { type DocumentNode, nodeAt, type SchemaNode } from '../document.ts';
import { type OverlayAction, placeName } from './proposal.ts';

const SEEN = /Seen: ([^.;]*)/;

/** The words that the contract documents for one place. */
interface DocumentedWords {
  readonly words: readonly string[];
  /** True if the words are listed in a keyword, either as the only allowed words or as the expected ones. */
  readonly listed: boolean;
  /** Returns actions that add words and, if `closed` is true, forbid all undocumented words. */
  readonly add: (fresh: readonly string[], closed: boolean) => OverlayAction[];
}

/** Returns the documented words of the schema at a path. If there is no list, a description can contain the words. */
export function documentedWords(document: DocumentNode, path: string, schema: SchemaNode): DocumentedWords {
  const place = placeName(path);
  const expected = schema['x-expected-enum'];
  const list = schema.enum ?? (Array.isArray(expected) ? (expected as readonly unknown[]) : undefined);
  if (list !== undefined) {
    const target = `${path}${schema.enum === undefined ? "['x-expected-enum']" : '.enum'}`;
    const description = `${place}: an undocumented word`;
    return {
      words: list.map(String),
      listed: true,
      add: (fresh) => fresh.map((update) => ({ target, description, update })),
    };
  }
  // If the words are in an array, the description of the array lists them.
  const describing = path.replace(/\.items$/, '');
  const { description: before = '' } = (nodeAt(document, describing) ?? schema) as SchemaNode;
  const words = (SEEN.exec(before)?.[1] ?? '').split(',').flatMap((word) => word.trim() || []);
  return {
    words,
    listed: false,
    add: (fresh, closed) => {
      const all = [...words, ...fresh];
      const sentence = `Seen: ${all.join(', ')}`;
      const text = SEEN.test(before) ? before.replace(SEEN, () => sentence) : `${before} ${sentence}.`.trim();
      const description = `${place}: the sampled words`;
      const describe = { target: describing, description, update: { description: text } };
      const close = { target: path, description: `${description}, and no others`, update: { enum: all } };
      return closed ? [describe, close] : [describe];
    },
  };
}

import { confidenceOf } from '../confidence.ts';
import type { SchemaObject } from '../../../engine/contract/openapi-document.ts';
import { type DocumentNode, nodeAt } from '../../../learner/document.ts';
import type { Observations, Vocabulary } from '../../../learner/observations/observations.ts';
import { type Limits, type OverlayAction, placeName, type Proposal } from './proposal.ts';

/**
 * The minimum confidence that a vocabulary is complete. The value is high because every other word is then reported.
 */
const CLOSED = 0.95;

/** Proposes the words of fields whose vocabulary is closed. Words below the minimum confidence are omitted. */
export function proposeWords({ vocabularies }: Observations, document: DocumentNode, limits: Limits): Proposal[] {
  const { minResponses, minConfidence } = limits;
  return [...vocabularies].flatMap(([path, seen]): Proposal[] => {
    const schema = nodeAt(document, path) as SchemaObject | undefined;
    const words = [...seen.words].filter(([, { answers }]) => answers >= minResponses).map(([word]) => word);
    if (schema === undefined || words.length === 0) return [];
    const known = documentedWords(document, path, schema);
    const closed = !known.listed && isClosed(seen, words.length);
    const fresh = words.filter(
      (word) => !known.words.includes(word) && (closed || confidenceInWord(seen, word) >= minConfidence),
    );
    if (fresh.length === 0 && !closed) return [];
    const statement = closed
      ? `is one of ${[...known.words, ...fresh].toSorted().join(', ')}`
      : `was also ${fresh.toSorted().join(', ')}${seen.other > 0 ? ` and ${seen.other} other values that are not shown` : ''}`;
    return [
      {
        kind: 'words',
        place: placeName(path),
        statement,
        ...(closed ? closedEvidence(seen) : rarestEvidence(seen, fresh)),
        actions: known.add(fresh, closed),
      },
    ];
  });
}

const SEEN = /Seen: ([^.;]*)/;

/** The words that the contract documents for one place. */
interface DocumentedWords {
  readonly words: readonly string[];
  /** True if a keyword lists the words, either as the only allowed words or as the expected ones. */
  readonly listed: boolean;
  /** Returns actions that add words and, if `closed` is true, expect no other words. */
  readonly add: (fresh: readonly string[], closed: boolean) => OverlayAction[];
}

/** Returns the words that the schema at a path documents, either in a list of values or in a description. */
function documentedWords(document: DocumentNode, path: string, schema: SchemaObject): DocumentedWords {
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
  // If the words are in an array, they are listed in the array's description.
  const describing = path.replace(/\.items$/, '');
  const { description: before = '' } = (nodeAt(document, describing) ?? schema) as SchemaObject;
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
      const close = { target: path, description: `${description}, and no others`, update: { 'x-expected-enum': all } };
      return closed ? [describe, close] : [describe];
    },
  };
}

/** Returns whether enough values have been sampled since the last new word to make another new word unlikely. */
function isClosed(seen: Vocabulary, known: number): boolean {
  return seen.other === 0 && known === seen.words.size && confidenceOf(seen.quiet, seen.quietAnswers) >= CLOSED;
}

function confidenceInWord({ words }: Vocabulary, word: string): number {
  const { seen = 0, answers = 0 } = words.get(word) ?? {};
  return confidenceOf(seen, answers);
}

function closedEvidence({ quiet, quietAnswers, seen, answers, firstSeenAt, lastSeenAt }: Vocabulary) {
  return { confidence: confidenceOf(quiet, quietAnswers), evidence: { seen, answers, firstSeenAt, lastSeenAt } };
}

/** Returns the evidence for a group of words, which is the evidence for the rarest word. */
function rarestEvidence(vocabulary: Vocabulary, words: readonly string[]) {
  const [rarest = ''] = words.toSorted((a, b) => confidenceInWord(vocabulary, a) - confidenceInWord(vocabulary, b));
  const { seen = 0, answers = 0 } = vocabulary.words.get(rarest) ?? {};
  const { seen: of, firstSeenAt, lastSeenAt } = vocabulary;
  return { confidence: confidenceOf(seen, answers), evidence: { seen, of, answers, firstSeenAt, lastSeenAt } };
}

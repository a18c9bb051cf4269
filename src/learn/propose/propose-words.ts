import { type DocumentNode, nodeAt, placeName, type SchemaNode } from '../document.ts';
import { confidenceOf } from '../confidence.ts';
import type { Observations, Vocabulary } from '../observations/observations.ts';
import type { Limits, OverlayAction, Proposal } from './proposal.ts';

/**
 * The minimum confidence that a vocabulary is complete. The value is high because a closed vocabulary excludes all
 * other words.
 */
const CLOSED = 0.95;

const SEEN = /Seen: ([^.;]*)/;

/** Proposes the words of fields whose vocabulary is closed. Words with less than the minimum confidence are omitted. */
export function proposeWords({ vocabularies }: Observations, document: DocumentNode, limits: Limits): Proposal[] {
  const { minResponses, minConfidence } = limits;
  return [...vocabularies].flatMap(([path, seen]): Proposal[] => {
    const schema = nodeAt(document, path) as SchemaNode | undefined;
    const words = [...seen.words].filter(([, { answers }]) => answers >= minResponses).map(([word]) => word);
    if (schema === undefined || words.length === 0) return [];
    const describing = describingSchema(path, document) ?? schema;
    const list = listOfWords(schema);
    const known = list === undefined ? documentedWords(describing) : list.words.map(String);
    const closed = list === undefined && isClosed(seen, words.length);
    const fresh = words.filter(
      (word) => !known.includes(word) && (closed || confidenceInWord(seen, word) >= minConfidence),
    );
    if (fresh.length === 0 && !closed) return [];
    const place = placeName(path);
    const all = [...known, ...fresh];
    const statement = closed
      ? `is one of ${all.toSorted().join(', ')}`
      : `was also ${fresh.toSorted().join(', ')}${seen.other > 0 ? ` and ${seen.other} other values that are not shown` : ''}`;
    return [
      {
        kind: 'words',
        place,
        statement,
        ...(closed ? closedEvidence(seen) : rarestEvidence(seen, fresh)),
        actions:
          list === undefined
            ? listWords(path, describing, all, closed)
            : fresh.map((word) => append(path, list.selector, word)),
      },
    ];
  });
}

/** Returns the words that the contract lists, either as the only allowed words or as the expected ones. */
function listOfWords(
  schema: SchemaNode,
): { readonly words: readonly unknown[]; readonly selector: string } | undefined {
  if (schema.enum !== undefined) return { words: schema.enum, selector: '.enum' };
  const words = schema['x-expected-enum'];
  return Array.isArray(words) ? { words, selector: "['x-expected-enum']" } : undefined;
}

/** Returns whether enough values have been sampled since the last new word to make another new word unlikely. */
function isClosed(seen: Vocabulary, known: number): boolean {
  return seen.other === 0 && known === seen.words.size && confidenceOf(seen.quiet, seen.quietAnswers) >= CLOSED;
}

function confidenceInWord({ words }: Vocabulary, word: string): number {
  const { seen = 0, answers = 0 } = words.get(word) ?? {};
  return confidenceOf(seen, answers);
}

function closedEvidence(seen: Vocabulary) {
  return {
    confidence: confidenceOf(seen.quiet, seen.quietAnswers),
    evidence: { seen: seen.seen, answers: seen.answers, ...spanOf(seen) },
  };
}

/** Returns the evidence for a group of words, which is the evidence for the rarest of them. */
function rarestEvidence(vocabulary: Vocabulary, words: readonly string[]) {
  const [rarest = ''] = words.toSorted((a, b) => confidenceInWord(vocabulary, a) - confidenceInWord(vocabulary, b));
  const { seen = 0, answers = 0 } = vocabulary.words.get(rarest) ?? {};
  const evidence = { seen, of: vocabulary.seen, answers, ...spanOf(vocabulary) };
  return { confidence: confidenceOf(seen, answers), evidence };
}

const spanOf = ({ firstSeenAt, lastSeenAt }: Vocabulary) => ({ firstSeenAt, lastSeenAt });

function documentedWords(schema: SchemaNode): string[] {
  const [, list = ''] = SEEN.exec(schema.description ?? '') ?? [];
  return list.split(',').flatMap((word) => word.trim() || []);
}

/**
 * Returns the schema whose description lists the words. If the words are in an array, this is the schema of the
 * array.
 */
function describingSchema(path: string, document: DocumentNode): SchemaNode | undefined {
  return nodeAt(document, path.replace(/\.items$/, '')) as SchemaNode | undefined;
}

function listWords(path: string, describing: SchemaNode, words: readonly string[], closed: boolean): OverlayAction[] {
  const before = describing.description ?? '';
  const sentence = `Seen: ${words.join(', ')}`;
  const listed = SEEN.test(before) ? before.replace(SEEN, () => sentence) : `${before} ${sentence}.`.trim();
  const description = `${placeName(path)}: the sampled words`;
  const actions: OverlayAction[] = [
    { target: path.replace(/\.items$/, ''), description, update: { description: listed } },
  ];
  if (closed) actions.push({ target: path, description: `${description}, and no others`, update: { enum: words } });
  return actions;
}

function append(path: string, selector: string, word: string): OverlayAction {
  return {
    target: `${path}${selector}`,
    description: `${placeName(path)}: an undocumented word`,
    update: word,
  };
}

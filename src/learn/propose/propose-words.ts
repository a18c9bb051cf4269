import { type DocumentNode, nodeAt, placeName, type SchemaNode } from '../document.ts';
import { confidenceOf } from '../confidence.ts';
import type { Observations, Vocabulary } from '../observations/observations.ts';
import type { Limits, OverlayAction, Proposal } from './proposal.ts';

/** The confidence in that nothing else comes, with which a vocabulary is closed: what is refused then is refused for good. */
const CLOSED = 0.95;

const SEEN = /Seen: ([^.;]*)/;

/** Proposals about the words of fields with a closed vocabulary; a word that is less sure than asked for is left out by itself. */
export function proposeWords({ vocabularies }: Observations, document: DocumentNode, limits: Limits): Proposal[] {
  const { minAnswers, minConfidence } = limits;
  return [...vocabularies].flatMap(([path, seen]): Proposal[] => {
    const schema = nodeAt(document, path) as SchemaNode | undefined;
    const words = [...seen.words].filter(([, { answers }]) => answers >= minAnswers).map(([word]) => word);
    if (schema === undefined || words.length === 0) return [];
    const teller = tellerOf(path, document) ?? schema;
    const told = schema.enum === undefined ? documentedWords(teller) : schema.enum.map(String);
    const closed = schema.enum === undefined && isClosed(seen, words.length);
    const fresh = words.filter((word) => !told.includes(word) && (closed || sureness(seen, word) >= minConfidence));
    if (fresh.length === 0 && !closed) return [];
    const place = placeName(path);
    const all = [...told, ...fresh];
    const statement = closed
      ? `is one of ${all.toSorted().join(', ')}`
      : `was also ${fresh.toSorted().join(', ')}${seen.other > 0 ? `, and ${seen.other} texts that are told to nobody` : ''}`;
    return [
      {
        kind: 'words',
        place,
        statement,
        ...(closed ? closedEvidence(seen) : rarestEvidence(seen, fresh)),
        actions: schema.enum === undefined ? tell(path, teller, all, closed) : fresh.map((word) => append(path, word)),
      },
    ];
  });
}

/** True when so many texts brought no new word that another one is not to be expected. */
function isClosed(seen: Vocabulary, told: number): boolean {
  return seen.other === 0 && told === seen.words.size && confidenceOf(seen.quiet, seen.quietAnswers) >= CLOSED;
}

function sureness({ words }: Vocabulary, word: string): number {
  const { seen = 0, answers = 0 } = words.get(word) ?? {};
  return confidenceOf(seen, answers);
}

function closedEvidence(seen: Vocabulary) {
  return {
    confidence: confidenceOf(seen.quiet, seen.quietAnswers),
    evidence: { seen: seen.seen, answers: seen.answers, ...spanOf(seen) },
  };
}

/** What the statement about several words rests on: the one that was seen least. */
function rarestEvidence(vocabulary: Vocabulary, words: readonly string[]) {
  const [rarest = ''] = words.toSorted((a, b) => sureness(vocabulary, a) - sureness(vocabulary, b));
  const { seen = 0, answers = 0 } = vocabulary.words.get(rarest) ?? {};
  const evidence = { seen, of: vocabulary.seen, answers, ...spanOf(vocabulary) };
  return { confidence: confidenceOf(seen, answers), evidence };
}

const spanOf = ({ firstSeenAt, lastSeenAt }: Vocabulary) => ({ firstSeenAt, lastSeenAt });

function documentedWords(schema: SchemaNode): string[] {
  const [, list = ''] = SEEN.exec(schema.description ?? '') ?? [];
  return list.split(',').flatMap((word) => word.trim() || []);
}

/** The schema that describes the words: elements are described with their array. */
function tellerOf(path: string, document: DocumentNode): SchemaNode | undefined {
  return nodeAt(document, path.replace(/\.items$/, '')) as SchemaNode | undefined;
}

function tell(path: string, teller: SchemaNode, words: readonly string[], closed: boolean): OverlayAction[] {
  const before = teller.description ?? '';
  const sentence = `Seen: ${words.join(', ')}`;
  const said = SEEN.test(before) ? before.replace(SEEN, () => sentence) : `${before} ${sentence}.`.trim();
  const description = `${placeName(path)}: the words that were seen`;
  const actions: OverlayAction[] = [
    { target: path.replace(/\.items$/, ''), description, update: { description: said } },
  ];
  if (closed) actions.push({ target: path, description: `${description}, and no others`, update: { enum: words } });
  return actions;
}

function append(path: string, word: string): OverlayAction {
  return {
    target: `${path}.enum`,
    description: `${placeName(path)}: a word that the contract does not have`,
    update: word,
  };
}

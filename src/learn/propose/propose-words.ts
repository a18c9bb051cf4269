import { type DocumentNode, nodeAt, placeName, type SchemaNode } from '../document.ts';
import type { Observations, Vocabulary } from '../observations/observations.ts';
import type { OverlayAction, Proposal } from './proposal.ts';
import { wilsonBound } from './wilson-bound.ts';

/** The confidence in that nothing else comes, with which a vocabulary is closed: what is refused then is refused for good. */
const CLOSED = 0.95;

/** Answers below which no vocabulary is closed: the texts of one answer are much alike. */
const CLOSED_ANSWERS = 20;

const SEEN = /Seen: ([^.;]*)/;

/** Proposals about the words of fields with a closed vocabulary. */
export function proposeWords({ vocabularies }: Observations, document: DocumentNode, minAnswers: number): Proposal[] {
  return [...vocabularies].flatMap(([path, seen]): Proposal[] => {
    const schema = nodeAt(document, path) as SchemaNode | undefined;
    const words = [...seen.words].filter(([, { answers }]) => answers >= minAnswers).map(([word]) => word);
    if (schema === undefined || words.length === 0) return [];
    const teller = tellerOf(path, document) ?? schema;
    const told = schema.enum === undefined ? documentedWords(teller) : schema.enum.map(String);
    const fresh = words.filter((word) => !told.includes(word));
    const closed = schema.enum === undefined && isClosed(seen, words.length);
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
        confidence: closed ? wilsonBound(seen.quiet, seen.quiet) : wilsonBound(seen.seen - seen.other, seen.seen),
        evidence: {
          seen: seen.seen,
          answers: seen.answers,
          firstSeenAt: seen.firstSeenAt,
          lastSeenAt: seen.lastSeenAt,
        },
        actions: schema.enum === undefined ? tell(path, teller, all, closed) : fresh.map((word) => append(path, word)),
      },
    ];
  });
}

/** True when so many texts brought no new word that another one is not to be expected. */
function isClosed(seen: Vocabulary, told: number): boolean {
  return (
    seen.other === 0 &&
    seen.answers >= CLOSED_ANSWERS &&
    told === seen.words.size &&
    wilsonBound(seen.quiet, seen.quiet) >= CLOSED
  );
}

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

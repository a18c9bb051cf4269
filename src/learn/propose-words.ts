import { type DocumentNode, nodeAt, placeName, type SchemaNode } from './document.ts';
import type { Observations, Vocabulary } from './observations.ts';
import type { OverlayAction, Proposal } from './proposal.ts';
import { SURE } from './to-schema.ts';
import { wilsonBound } from './wilson-bound.ts';

const SEEN = /Seen: ([^.;]*)/;

/** Proposals about the words of fields with a closed vocabulary. */
export function proposeWords({ vocabularies }: Observations, document: DocumentNode, minAnswers: number): Proposal[] {
  return [...vocabularies].flatMap(([path, seen]): Proposal[] => {
    const schema = nodeAt(document, path) as SchemaNode | undefined;
    const words = [...seen.words].filter(([, { answers }]) => answers >= minAnswers).map(([word]) => word);
    if (schema === undefined || words.length === 0) return [];
    const told = schema.enum === undefined ? documentedWords(schema) : schema.enum.map(String);
    const fresh = words.filter((word) => !told.includes(word));
    const closed = schema.enum === undefined && isClosed(seen, words.length);
    if (fresh.length === 0 && !closed) return [];
    const place = placeName(path);
    const all = [...told, ...fresh];
    const statement = closed
      ? `is one of ${words.toSorted().join(', ')}`
      : `was also ${fresh.toSorted().join(', ')}${seen.other > 0 ? `, and ${seen.other} texts that are told to nobody` : ''}`;
    return [
      {
        kind: 'words',
        place,
        statement,
        confidence: closed ? wilsonBound(seen.quiet, seen.quiet) : wilsonBound(seen.seen - seen.other, seen.seen),
        evidence: { seen: seen.seen, answers: seen.answers, firstSeenAt: seen.firstSeenAt, lastSeenAt: seen.lastSeenAt },
        actions: schema.enum === undefined ? [tell(path, schema, all, closed)] : fresh.map((word) => append(path, word)),
      },
    ];
  });
}

/** True when so many texts brought no new word that another one is not to be expected. */
function isClosed(seen: Vocabulary, told: number): boolean {
  return seen.other === 0 && told === seen.words.size && wilsonBound(seen.quiet, seen.quiet) >= SURE;
}

function documentedWords(schema: SchemaNode): string[] {
  const [, list = ''] = SEEN.exec(String(schema['description'] ?? '')) ?? [];
  return list.split(',').flatMap((word) => word.trim() || []);
}

function tell(path: string, schema: SchemaNode, words: readonly string[], closed: boolean): OverlayAction {
  const before = String(schema['description'] ?? '');
  const sentence = `Seen: ${words.join(', ')}`;
  const description = SEEN.test(before) ? before.replace(SEEN, () => sentence) : `${before} ${sentence}.`.trim();
  const update = { description, ...(closed && { enum: words }) };
  return { target: path, description: `${placeName(path)}: the words that were seen`, update };
}

function append(path: string, word: string): OverlayAction {
  return { target: `${path}.enum`, description: `${placeName(path)}: a word that the contract does not have`, update: word };
}

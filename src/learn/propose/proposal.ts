import { confidenceWord, shownConfidence } from '../confidence.ts';

/** One action of an OpenAPI Overlay 1.0. */
export interface OverlayAction {
  readonly target: string;
  readonly description: string;
  readonly update?: unknown;
  readonly remove?: true;
}

/** What a statement rests on; counts and instants only. */
export interface Evidence {
  /** Values, objects or answers that say so. */
  readonly seen: number;
  /** Distinct answers that they were in. */
  readonly answers: number;
  /** Of how many, where some may say otherwise. */
  readonly of?: number;
  /** Epoch milliseconds. */
  readonly firstSeenAt: number;
  readonly lastSeenAt: number;
}

/** One statement about the legacy server, with what would write it into the contract. */
export interface Proposal {
  readonly kind: 'shape' | 'field' | 'words' | 'type' | 'optional' | 'envelope' | 'path' | 'page-size' | 'switch';
  /** The place as people say it: `Node.attachments[]`. */
  readonly place: string;
  /** One plain sentence. */
  readonly statement: string;
  /** 0 to 1: the lower Wilson bound of what was seen. */
  readonly confidence: number;
  readonly evidence: Evidence;
  /** Empty where the statement changes nothing in the contract. */
  readonly actions: readonly OverlayAction[];
}

/** What is not proposed. */
export interface Limits {
  /** Distinct answers below which the name of a field, or a word, is told to nobody. */
  readonly minAnswers: number;
  /** 0 to 1. */
  readonly minConfidence: number;
  /** True writes every address that was learned with its shape; otherwise look-ups of tickets only. */
  readonly writeAddresses: boolean;
}

const TITLES: Readonly<Record<Proposal['kind'], string>> = {
  shape: 'Shapes that the contract leaves open',
  field: 'Fields that the contract does not have',
  words: 'Words of closed vocabularies',
  type: 'Fields of another type than the contract says',
  optional: 'Required fields that were absent',
  envelope: 'Answers that are another thing than the contract says',
  'page-size': 'Page sizes',
  switch: 'Switches of requests',
  path: 'Addresses outside the contract',
};

/** Proposals for people: by kind, with confidence and what it rests on. */
export function proposalLines(proposals: readonly Proposal[]): string[] {
  const kinds = Map.groupBy(proposals, ({ kind }) => kind);
  return [...kinds].flatMap(([kind, found]) => [[`${TITLES[kind]}:`], found.flatMap(linesOf), ['']].flat());
}

function linesOf(proposal: Proposal): string[] {
  const { kind, place, statement, confidence, actions } = proposal;
  const idle =
    actions.length > 0
      ? ''
      : `; nothing to write${kind === 'envelope' ? ': the contract names variants of this answer, so choose among them by hand' : ''}`;
  return [
    `  ${place}: ${statement}`,
    `      ${confidenceWord(confidence)} (${shownConfidence(confidence).toFixed(2)}): ${countWords(proposal)}${idle}`,
  ];
}

function countWords({ evidence: { seen, of, answers, firstSeenAt, lastSeenAt } }: Proposal): string {
  const share = of === undefined || of === seen ? `${seen} seen` : `${seen} of ${of}`;
  const days = day(firstSeenAt) === day(lastSeenAt) ? day(lastSeenAt) : `${day(firstSeenAt)} to ${day(lastSeenAt)}`;
  return `${share} in ${answers} ${answers === 1 ? 'answer' : 'answers'}, ${days}`;
}

const day = (at: number) => new Date(at).toISOString().slice(0, 10);

import { confidenceWord, shownConfidence } from '../confidence.ts';

/** An action of an OpenAPI Overlay 1.0 document. */
export interface OverlayAction {
  readonly target: string;
  readonly description: string;
  readonly update?: unknown;
  readonly remove?: true;
}

/** The evidence for a statement. It consists only of counts and times. */
export interface Evidence {
  /** The number of values, objects or responses that support this statement. */
  readonly seen: number;
  /** The number of distinct responses that contained those values or objects. */
  readonly answers: number;
  /** The total number of values, objects or responses. Set only if some of them may contradict the statement. */
  readonly of?: number;
  /** When the evidence was first seen, in epoch milliseconds. */
  readonly firstSeenAt: number;
  readonly lastSeenAt: number;
}

/** A statement about the legacy server, and the overlay actions that add it to the contract. */
export interface Proposal {
  readonly kind:
    'shape' | 'field' | 'words' | 'type' | 'form' | 'optional' | 'envelope' | 'path' | 'page-size' | 'switch';
  /** The place in readable form, for example `Node.attachments[]`. */
  readonly place: string;
  /** The statement, as one plain sentence. */
  readonly statement: string;
  /** The confidence: the lower bound of the Wilson score interval, from 0 to 1. */
  readonly confidence: number;
  readonly evidence: Evidence;
  /** The overlay actions. The list is empty if the statement does not change the contract. */
  readonly actions: readonly OverlayAction[];
}

/** The limits for proposals. */
export interface Limits {
  /** The minimum number of distinct responses that must contain a word or a field name before it is shown. */
  readonly minResponses: number;
  /** The minimum confidence, from 0 to 1. */
  readonly minConfidence: number;
  /**
   * True if every undocumented path whose bodies are known is added to the contract. If false, only ticket lookups
   * are added.
   */
  readonly writeAddresses: boolean;
}

const TITLES: Readonly<Record<Proposal['kind'], string>> = {
  shape: 'Shapes that the contract leaves open',
  field: 'Undocumented fields',
  words: 'Words of closed vocabularies',
  type: 'Fields with a different type than documented',
  form: 'Values that the contract restricts more than the server',
  optional: 'Missing required fields',
  envelope: 'Responses with a different envelope than documented',
  'page-size': 'Page sizes',
  switch: 'Request switches',
  path: 'Undocumented paths',
};

/** Formats proposals, with their confidence and evidence, for the terminal. The proposals are grouped by kind. */
export function proposalLines(proposals: readonly Proposal[]): string[] {
  const kinds = Map.groupBy(proposals, ({ kind }) => kind);
  return [...kinds].flatMap(([kind, found]) => [[`${TITLES[kind]}:`], found.flatMap(linesOf), ['']].flat());
}

function linesOf(proposal: Proposal): string[] {
  const { kind, place, statement, confidence, actions } = proposal;
  const noChange =
    actions.length > 0
      ? ''
      : `; no change to the contract${kind === 'envelope' ? ': it has several variants of this response, so edit the right one manually' : ''}`;
  return [
    `  ${place}: ${statement}`,
    `      ${confidenceWord(confidence)} (${shownConfidence(confidence).toFixed(2)}): ${countWords(proposal)}${noChange}`,
  ];
}

function countWords({ evidence: { seen, of, answers, firstSeenAt, lastSeenAt } }: Proposal): string {
  const share = of === undefined || of === seen ? `${seen} seen` : `${seen} of ${of}`;
  const days = day(firstSeenAt) === day(lastSeenAt) ? day(lastSeenAt) : `${day(firstSeenAt)} to ${day(lastSeenAt)}`;
  return `${share} in ${answers} ${answers === 1 ? 'response' : 'responses'}, ${days}`;
}

const day = (at: number) => new Date(at).toISOString().slice(0, 10);

import { confidenceWord, shownConfidence } from '../confidence.ts';
import type { Proposal } from './proposal.ts';

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

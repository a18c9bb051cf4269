import type { Proposal } from './proposal.ts';
import { confidenceWord, shownConfidence } from './wilson-bound.ts';

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

import { anyIndex } from '../lib/json-pointer.ts';
import type { Violation } from '../model/violation.ts';

/** What one contract says of a message. */
export interface Told {
  /** What would be refused where the check is enforced. */
  readonly violations: readonly Violation[];
  /** What is counted only. */
  readonly reported: readonly Violation[];
  /** True when more was wrong than was collected. */
  readonly more?: boolean;
}

/** What the candidate would newly refuse or report of a message, and what it no longer would. */
export function candidateDifferences(live: Told, candidate: Told): Violation[] {
  return [
    // What was not collected cannot be told to be missing.
    ...(live.more === true ? [] : beyond(candidate, live, 'newly-refused')),
    ...(candidate.more === true ? [] : beyond(live, candidate, 'newly-accepted')),
  ];
}

/** What the first says and the second does not, or says more mildly. */
function beyond(first: Told, second: Told, difference: 'newly-refused' | 'newly-accepted'): Violation[] {
  const refused = new Set(second.violations.map(keyOf));
  const told = new Set([...refused, ...second.reported.map(keyOf)]);
  return [
    ...first.violations.filter((violation) => !refused.has(keyOf(violation))),
    ...first.reported.filter((violation) => !told.has(keyOf(violation))),
  ].map((violation) => Object.assign({ ...violation }, { candidate: difference }));
}

// Not by where the contract says so, as a schema that moved says the same; nor by the item, as a message is judged as a whole.
const keyOf = ({ location, at, keyword }: Violation) => `${location} ${keyword} ${anyIndex(at)}`;

import type { ActionOrigin } from '../../engine/model/operator-action.ts';
import { lineOf, operatorName } from '../../engine/model/operator-name.ts';
import { containsCredential } from '../../engine/privacy/secret-text.ts';
import { isPlainObject, type PlainObject } from '../../lib/plain-object.ts';
import { instantOf, objectOf } from '../../lib/state-file.ts';

/** An operator's latest decision about a brown-out. */
export interface BrownoutDecision {
  /** The id of the brown-out. */
  readonly brownout: string;
  /** False if the brown-out was revoked and then restored. */
  readonly isRevoked: boolean;
  readonly reason: string;
  readonly by: string | undefined;
  readonly from: string | undefined;
  /** When it was made, in epoch milliseconds. */
  readonly at: number;
  /** When the brown-out ends, in epoch milliseconds. Some time later, the decision is forgotten. */
  readonly until: number;
}

/** The latest decisions about brown-outs, by their ids. */
export type Decisions = ReadonlyMap<string, BrownoutDecision>;

/** Why a request of an operator is refused: the member that is wrong, and what to do. */
export interface RequestFault {
  readonly field: string;
  readonly message: string;
}

const MAX_REASON = 500;

/** Reads an operator's request to revoke or restore a brown-out. Returns all of its errors if it is invalid. */
export function readDecision(
  body: unknown,
  brownouts: ReadonlyMap<string, { readonly to: number }>,
  { isRevoked, origin, at }: { readonly isRevoked: boolean; readonly origin: ActionOrigin; readonly at: number },
): BrownoutDecision | readonly RequestFault[] {
  if (!isPlainObject(body)) return [{ field: '', message: 'Send a JSON object.' }];
  const { brownout, reason: givenReason, by: givenBy } = body;
  const faults: RequestFault[] = [];
  const found = typeof brownout === 'string' ? brownouts.get(brownout) : undefined;
  if (found === undefined)
    faults.push({
      field: 'brownout',
      message: 'Name the id of a configured brown-out; portico deprecation lists them.',
    });
  else if (found.to <= at) faults.push({ field: 'brownout', message: 'This brown-out is over.' });
  const reason = lineOf(givenReason);
  if (reason === undefined || reason.length > MAX_REASON)
    faults.push({ field: 'reason', message: `Give the reason in one line of at most ${MAX_REASON} characters.` });
  else if (containsCredential(reason))
    faults.push({ field: 'reason', message: 'The reason must not contain a credential.' });
  const by = operatorName(givenBy);
  if (by === undefined && givenBy !== undefined && givenBy !== '')
    faults.push({ field: 'by', message: 'The name must be one line of at most 100 characters.' });
  if (faults.length > 0 || found === undefined || reason === undefined) return faults;
  const known = brownout as string;
  return { brownout: known, isRevoked, reason, by: by ?? origin.by, from: origin.from, at, until: found.to };
}

/** Merges the decisions of two gateways. For each brown-out, the later one counts. */
export function mergeDecisions(one: Decisions, other: Decisions): Decisions {
  const merged = new Map(one);
  for (const [id, decision] of other) {
    const known = merged.get(id);
    // Of two decisions of the same instant, the one that lets requests through counts.
    const isLater =
      known === undefined ||
      decision.at > known.at ||
      (decision.at === known.at && decision.isRevoked && !known.isRevoked);
    if (isLater) merged.set(id, decision);
  }
  return merged;
}

/** Returns a decision as JSON, with instants in ISO 8601 format. */
export function decisionJson({ at, until, ...decision }: BrownoutDecision) {
  return { ...decision, at: new Date(at).toISOString(), until: new Date(until).toISOString() };
}

/** Returns the decisions as JSON, always in the same order. */
export const decisionsJson = (decisions: Decisions) =>
  [...decisions].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, decision]) => decisionJson(decision));

const MAX_DECISIONS = 5_000;

/** Reads decisions from JSON. Throws an error that describes the problem if they are invalid. */
export function decisionsFrom(value: unknown, place: string): Decisions {
  if (!Array.isArray(value) || value.length > MAX_DECISIONS) throw new Error(`${place} must be a list`);
  const read = value.map((one: unknown, index) =>
    decisionFrom(objectOf(one, `${place}[${index}]`), `${place}[${index}]`),
  );
  return new Map(read.map((decision) => [decision.brownout, decision]));
}

function decisionFrom(
  { brownout, isRevoked, reason, by, from, at, until }: PlainObject,
  place: string,
): BrownoutDecision {
  if (typeof brownout !== 'string' || typeof isRevoked !== 'boolean')
    throw new Error(`${place} must name a brown-out and the decision`);
  const text = lineOf(reason);
  if (text === undefined || text.length > MAX_REASON || containsCredential(text))
    throw new Error(`${place}.reason must be one line`);
  return {
    brownout,
    isRevoked,
    reason: text,
    by: operatorName(by),
    from: typeof from === 'string' ? from : undefined,
    at: instantOf(at, `${place}.at`),
    until: instantOf(until, `${place}.until`),
  };
}

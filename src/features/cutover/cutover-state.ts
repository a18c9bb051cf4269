import { isDeepStrictEqual } from 'node:util';
import { lineOf, operatorName } from '../../engine/model/operator-name.ts';
import { containsCredential } from '../../engine/privacy/secret-text.ts';
import type { PlainObject } from '../../lib/plain-object.ts';
import { instantOf, objectOf } from '../../lib/state-file.ts';

/** Whether the shares are in force, and may be raised. */
export const PHASES = ['running', 'frozen', 'returned'] as const;
export type Phase = (typeof PHASES)[number];

/** Who or what has made a decision. */
export const CAUSES = ['operator', 'rule', 'limit'] as const;

/** A decision about the cut-over. Each one replaces the one before. */
export interface Decision {
  /** Grows with each decision. */
  readonly number: number;
  readonly phase: Phase;
  /** The shares that were set while Portico runs, in percent, by operation or `*`. */
  readonly shares: Readonly<Record<string, number>>;
  /** The numbers of the decisions that last moved callers to the new server, and back to the old one. */
  readonly raised: number;
  readonly lowered: number;
  readonly cause: (typeof CAUSES)[number];
  readonly reason: string;
  readonly by: string | undefined;
  readonly from: string | undefined;
  /** When it was made, and from when it applies, in epoch milliseconds. */
  readonly at: number;
  readonly appliesAt: number;
  /** When a limit was last exceeded (0: never). */
  readonly exceededAt: number;
}

/** The latest decision, and those before, newest first. */
export interface CutoverState {
  /** The address of the new server. Decisions about another server do not apply. */
  readonly server: string;
  readonly decisions: readonly Decision[];
}

const MAX_DECISIONS = 50;
const MAX_REASON = 500;

/** The decision before anybody has made one. */
export const FIRST: Decision = {
  number: 0,
  phase: 'running',
  shares: {},
  raised: 0,
  lowered: 0,
  cause: 'operator',
  reason: 'as configured',
  by: undefined,
  from: undefined,
  at: 0,
  appliesAt: 0,
  exceededAt: 0,
};

/** Returns the latest decision, which may not apply yet. */
export const latestOf = ({ decisions }: CutoverState): Decision => decisions[0] ?? FIRST;

/** Returns the decision that applies at an instant. */
export const inForceAt = ({ decisions }: CutoverState, now: number): Decision =>
  decisions.find(({ appliesAt }) => appliesAt <= now) ?? FIRST;

/** Returns the state after another decision. */
export const decided = ({ server, decisions }: CutoverState, next: Decision): CutoverState => ({
  server,
  decisions: [next, ...decisions].slice(0, MAX_DECISIONS),
});

/** Of two decisions that do not know each other, the one that moves fewer callers counts, so that a return is never lost. */
const SAFETY: Readonly<Record<Phase, number>> = { returned: 2, frozen: 1, running: 0 };

/**
 * Merges the states of two gateways. The one that continues the other one counts. If neither does, because both decided
 * at the same time or could not reach each other, the safer one counts, and the earlier one of two that say the same.
 */
export function mergeStates(mine: CutoverState, theirs: CutoverState): CutoverState {
  if (continues(mine, theirs)) return mine;
  return continues(theirs, mine) || isSafer(latestOf(theirs), latestOf(mine)) ? theirs : mine;
}

/** Returns whether a state contains the latest decision of another one, or is so far ahead that it has forgotten it. */
function continues({ decisions }: CutoverState, other: CutoverState): boolean {
  const latest = latestOf(other);
  const isForgotten = decisions.length === MAX_DECISIONS && latest.number < (decisions.at(-1)?.number ?? 0);
  return latest === FIRST || isForgotten || contains(decisions, latest);
}

/** Returns whether a decision is one of those in a list. */
export const contains = (decisions: CutoverState['decisions'], one: Decision): boolean =>
  decisions.some((known) => isDeepStrictEqual(known, one));

function isSafer(one: Decision, other: Decision): boolean {
  if (one.phase !== other.phase) return SAFETY[one.phase] > SAFETY[other.phase];
  if (one.number !== other.number) return one.number > other.number;
  const totals = [totalOf(one), totalOf(other)] as const;
  if (totals[0] !== totals[1]) return totals[0] < totals[1];
  if (one.appliesAt !== other.appliesAt) return one.appliesAt < other.appliesAt;
  // What has been read has its members in another order.
  const textOf = (decision: Decision) =>
    JSON.stringify(Object.entries(decision).toSorted(([a], [b]) => (a < b ? -1 : 1)));
  return textOf(one) < textOf(other);
}

const totalOf = ({ shares }: Decision) => Object.values(shares).reduce((sum, share) => sum + share, 0);

/** Returns a decision as JSON, with instants in ISO 8601 format. */
export const decisionJson = ({ at, appliesAt, exceededAt, ...decision }: Decision) => ({
  ...decision,
  at: isoOf(at),
  appliesAt: isoOf(appliesAt),
  exceededAt: exceededAt === 0 ? undefined : isoOf(exceededAt),
});

const isoOf = (at: number) => new Date(at).toISOString();

/** Returns the state as JSON. */
export const stateJson = ({ server, decisions }: CutoverState) => ({
  server,
  decisions: decisions.map(decisionJson),
});

/** Reads a state from JSON. Throws an error that describes the problem if it is invalid. */
export function stateFrom({ server, decisions }: PlainObject): CutoverState {
  if (typeof server !== 'string') throw new Error('server must be a text');
  if (!Array.isArray(decisions) || decisions.length > MAX_DECISIONS) throw new Error('decisions must be a list');
  return {
    server,
    decisions: decisions.map((one: unknown, index) =>
      decisionFrom(objectOf(one, `decisions[${index}]`), `decisions[${index}]`),
    ),
  };
}

const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) >= 0;

function decisionFrom(given: PlainObject, place: string): Decision {
  const {
    number,
    phase: givenPhase,
    shares,
    raised,
    lowered,
    cause: givenCause,
    reason,
    by,
    from,
    at,
    appliesAt,
    exceededAt,
  } = given;
  if (!isCount(number) || !isCount(raised) || !isCount(lowered))
    throw new Error(`${place}.number, ${place}.raised and ${place}.lowered must be numbers`);
  const phase = PHASES.find((one) => one === givenPhase);
  const cause = CAUSES.find((one) => one === givenCause);
  if (phase === undefined || cause === undefined) throw new Error(`${place} must state its phase and its cause`);
  const text = reasonOf(reason);
  if (text === undefined) throw new Error(`${place}.reason must be one line`);
  return {
    number,
    phase,
    shares: sharesFrom(objectOf(shares, `${place}.shares`), `${place}.shares`),
    raised,
    lowered,
    cause,
    reason: text,
    by: operatorName(by),
    from: typeof from === 'string' ? from : undefined,
    at: instantOf(at, `${place}.at`),
    appliesAt: instantOf(appliesAt, `${place}.appliesAt`),
    exceededAt: exceededAt === undefined ? 0 : instantOf(exceededAt, `${place}.exceededAt`),
  };
}

function sharesFrom(shares: PlainObject, place: string): Decision['shares'] {
  return Object.fromEntries(
    Object.entries(shares).map(([id, share]) => {
      if (!isShare(share)) throw new Error(`${place} must contain percentages`);
      return [id, share];
    }),
  );
}

/** Returns whether a value is a percentage. */
export const isShare = (value: unknown): value is number => typeof value === 'number' && value >= 0 && value <= 100;

/** Returns a reason in one line, or undefined if it is absent, too long, or contains a credential. */
export function reasonOf(value: unknown): string | undefined {
  const text = lineOf(value);
  return text === undefined || text.length > MAX_REASON || containsCredential(text) ? undefined : text;
}

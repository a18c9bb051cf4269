import type { Checks, CheckName } from '../../engine/model/checks.ts';
import type { InForce, LevelChange } from '../../engine/model/in-force.ts';
import type { LadderEntry, OverrideChange, OverrideEntry } from './level-entry.ts';

/** The facts about an operation that determine which entries have an effect. */
export interface OperationFacts {
  /** True if the operation's responses are stored. */
  readonly isStored: boolean;
  /** True in transparent mode, where Portico neither refuses requests nor stores responses. */
  readonly transparent: boolean;
}

/** The configured levels of an operation. */
export interface ConfiguredChecks {
  readonly checks: Checks;
  /** The checks whose levels are configured for this single operation. The ladder never promotes these checks. */
  readonly explicit: readonly CheckName[];
}

/** Everything that decides what is in force for an operation. */
interface Deciding {
  readonly operation: string;
  readonly configured: ConfiguredChecks;
  readonly facts: OperationFacts;
  /** The ladder's decisions about the operation under the contract in use. */
  readonly decisions: readonly LadderEntry[];
  /** The active overrides of the operation, in the order in which they were set. */
  readonly overrides: readonly OverrideEntry[];
}

/**
 * Decides what is in force for an operation: an operator's entry precedes the ladder's, and both precede the
 * configuration. Returns undefined if the configuration applies as it is.
 */
export function decideInForce({ operation, configured, facts, decisions, overrides }: Deciding): InForce | undefined {
  const effective = overrides.filter((override) => whyWithoutEffect(override, facts) === undefined);
  const byLadder = ladderChecks(configured, decisions, !facts.transparent);
  const moves = decisions.filter(({ check }) => byLadder[check] !== configured.checks[check]);
  if (effective.length === 0 && moves.length === 0) return undefined;
  const checks = { ...byLadder };
  for (const override of effective) if (override.kind === 'level') checks[override.check] = override.level;
  const disabled = effective.findLast(({ kind }) => kind === 'disable');
  const changes: readonly LevelChange[] = [
    ...moves.map((entry) => ({
      decidedBy: 'ladder',
      words: moveWords(entry, configured.checks, byLadder),
      toSee: 'portico ladder',
    })),
    ...effective.map((override) => ({
      decidedBy: 'override',
      words: overrideWords(override, byLadder),
      toSee: 'portico override list',
    })),
  ];
  return {
    checks,
    changes,
    disabled: disabled && { until: disabled.until, toEnd: `portico override end ${operation} disable` },
    forceStale: effective.findLast((override) => override.kind === 'force-stale'),
  };
}

/** Returns an operation's configured levels with the ladder's decisions applied. */
export function ladderChecks(
  { checks, explicit }: ConfiguredChecks,
  decisions: readonly LadderEntry[],
  mayRaise: boolean,
): Checks {
  const levels = { ...checks };
  for (const { move, check } of decisions) {
    if (move === 'demoted' && levels[check] === 'enforce') levels[check] = 'report';
    else if (move === 'promoted' && mayRaise && levels[check] === 'report' && !explicit.includes(check))
      levels[check] = 'enforce';
  }
  return levels;
}

/** Returns the reason why a change has no effect on an operation, or undefined if it has an effect. */
export function whyWithoutEffect(
  change: OverrideChange,
  { isStored, transparent }: OperationFacts,
): string | undefined {
  if (transparent && change.kind === 'disable') return 'observe mode never refuses requests';
  if (transparent && change.kind === 'level' && change.level === 'enforce')
    return 'observe mode never refuses messages';
  if (change.kind === 'force-stale' && (transparent || !isStored)) return "the operation's responses are not stored";
  return undefined;
}

function moveWords(entry: LadderEntry, configured: Checks, effective: Checks): string {
  const { check } = entry;
  return `${check} ${effective[check]} instead of ${configured[check]}: ${decisionWords(entry)}`;
}

const number = new Intl.NumberFormat('en-US').format;

/** Describes a decision of the ladder, including its time and the numbers that led to it. */
export function decisionWords({ move, since, judged, failed, windowSeconds }: LadderEntry): string {
  const day = `${new Date(since).toISOString().slice(0, 16)}Z`;
  if (move === 'lifted') return `promotion lifted ${day}`;
  if (move === 'demoted')
    return `demoted ${day}, ${number(failed)} of ${number(judged)} responses failed in ${number(windowSeconds)} s`;
  return `promoted ${day}, none of ${number(judged)} would have been refused in ${number(windowSeconds / 3600)} h`;
}

/** Describes an override, including when it ends and why it was set. `checks` contains the levels without overrides. */
function overrideWords(override: OverrideEntry, checks: Checks): string {
  return `${changeWords(override, checks)} until ${secondOf(override.until)} (${override.reason})`;
}

function changeWords(change: OverrideChange, checks: Checks): string {
  if (change.kind === 'disable') return 'disabled';
  if (change.kind === 'force-stale') return `stored responses up to ${change.maxStaleSeconds} s stale`;
  return `${change.check} ${change.level} instead of ${checks[change.check]}`;
}

/** Formats an instant in UTC, without milliseconds. */
const secondOf = (instant: number) => `${new Date(instant).toISOString().slice(0, 19)}Z`;

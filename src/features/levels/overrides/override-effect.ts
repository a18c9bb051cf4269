import type { Checks } from '../../../engine/model/checks.ts';
import type { Override, OverrideChange } from './override.ts';

/** The facts about an operation that determine which overrides have an effect. */
export interface OverrideTarget {
  /** True if the operation's responses are stored. */
  readonly isStored: boolean;
  /** True in transparent mode, where Portico neither refuses requests nor stores responses. */
  readonly transparent: boolean;
}

/** Returns the reason why a change has no effect on an operation, or undefined if it has an effect. */
export function whyWithoutEffect(
  change: OverrideChange,
  { isStored, transparent }: OverrideTarget,
): string | undefined {
  if (transparent && change.kind === 'disable') return 'observe mode never refuses requests';
  if (transparent && change.kind === 'level' && change.level === 'enforce')
    return 'observe mode never refuses messages';
  if (change.kind === 'force-stale' && (transparent || !isStored)) return "the operation's responses are not stored";
  return undefined;
}

/** The effects of an operation's overrides on its plan. */
export interface Overridden {
  /** Descriptions of the overrides, used only for display. */
  readonly words: readonly string[];
  /** The time until which all requests are refused, in epoch milliseconds. */
  readonly disabledUntil: number | undefined;
  /** The maximum staleness of a served response, in seconds, and the end of the override, in epoch milliseconds. */
  readonly forceStale: { readonly maxStaleSeconds: number; readonly until: number } | undefined;
}

/** Applies an operation's overrides to its levels. Returns undefined if no override has an effect. */
export function applyOverrides(
  active: readonly Override[],
  checks: Checks,
  target: OverrideTarget,
): { readonly checks: Checks; readonly overridden: Overridden } | undefined {
  const effective = active.filter((override) => whyWithoutEffect(override, target) === undefined);
  if (effective.length === 0) return undefined;
  const levels = { ...checks };
  let disabledUntil: Overridden['disabledUntil'];
  let forceStale: Overridden['forceStale'];
  for (const override of effective) {
    if (override.kind === 'level') levels[override.check] = override.level;
    else if (override.kind === 'disable') disabledUntil = override.until;
    else forceStale = override;
  }
  const words = effective.map((override) => overrideWords(override, checks));
  return { checks: levels, overridden: { words, disabledUntil, forceStale } };
}

/**
 * Describes an override, including when it ends and why it was set. `checks` contains the levels without any override.
 */
function overrideWords(override: Override, checks: Checks): string {
  return `${changeWords(override, checks)} until ${minuteOf(override.until)} (${override.reason})`;
}

function changeWords(change: OverrideChange, checks: Checks): string {
  if (change.kind === 'disable') return 'disabled';
  if (change.kind === 'force-stale') return `stored responses up to ${change.maxStaleSeconds} s stale`;
  return `${change.check} ${change.level} instead of ${checks[change.check]}`;
}

/** Formats an instant in UTC, without milliseconds. */
const minuteOf = (instant: number) => `${new Date(instant).toISOString().slice(0, 19)}Z`;

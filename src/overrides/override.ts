import type { CheckLevel, Checks } from '../model/checks.ts';
import { mergeItems } from '../redis/shared-document.ts';

/** The checks whose level an override can change. They do not include checks that protect data. */
export const OVERRIDABLE_CHECKS = ['requests', 'responses', 'pageBounds'] as const;

/** The kinds of overrides. */
export const OVERRIDE_KINDS = ['level', 'force-stale', 'disable'] as const;

/** The effect of an override. */
export type OverrideChange =
  | {
      /** Sets the level of one check. */
      readonly kind: 'level';
      readonly check: (typeof OVERRIDABLE_CHECKS)[number];
      readonly level: CheckLevel;
    }
  | {
      /** Serves stored responses without a request to the upstream. */
      readonly kind: 'force-stale';
      /** How long a stored response may be served after it has become stale, in seconds. */
      readonly maxStaleSeconds: number;
    }
  /** Refuses every request. */
  | { readonly kind: 'disable' };

/** The operator who makes a change. */
export interface Operator {
  /** The name that the operator gave. Portico cannot verify it. */
  readonly by: string | undefined;
  /** The network address that the admin side received the request from. */
  readonly from: string | undefined;
}

/** A temporary change to one operation. */
export type Override = OverrideChange &
  Operator & {
    readonly operation: string;
    readonly reason: string;
    /** When the override was set, in epoch milliseconds. */
    readonly setAt: number;
    /** The end time, in epoch milliseconds. From this time on, the override has no effect. */
    readonly until: number;
  };

/** Returns the id of an override. An operation never has two overrides with the same id. */
export function overrideId(override: OverrideChange & { readonly operation: string }): string {
  return `${override.operation} ${changeId(override)}`;
}

/** Returns the part of an override's id after the operation: the name of a check, `force-stale` or `disable`. */
export function changeId(change: OverrideChange): string {
  return change.kind === 'level' ? change.check : change.kind;
}

/**
 * Merges this gateway's changes since `base` into the overrides that all gateways share. If both sides have changed an
 * override, the version that was set later applies. This prevents an override that was set again from being ended by
 * mistake.
 */
export function mergeOverrides(
  base: readonly Override[],
  mine: readonly Override[],
  theirs: readonly Override[],
): readonly Override[] {
  return mergeItems({ base, mine, theirs }, overrideId, (here, there) =>
    (here?.setAt ?? 0) > (there?.setAt ?? 0) ? here : there,
  );
}

/** The facts about an operation that determine which overrides have an effect. */
export interface OverrideTarget {
  /** True if the operation's responses are stored. */
  readonly isStored: boolean;
  /** True in transparent mode, in which Portico neither refuses requests nor stores responses. */
  readonly transparent: boolean;
}

/** Returns why a change has no effect on an operation, or undefined if the change has an effect. */
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

/** The changes that an operation's overrides make to its plan. */
export interface Overridden {
  /** Descriptions of the overrides. They are used only for display. */
  readonly words: readonly string[];
  /** When the refusal of all requests ends, in epoch milliseconds. */
  readonly disabledUntil: number | undefined;
  /**
   * How long a response may be served after it has become stale, in seconds, and the end of the override, in epoch
   * milliseconds.
   */
  readonly forceStale: { readonly maxStaleSeconds: number; readonly until: number } | undefined;
}

/** Applies the overrides of a single operation to its levels. Returns undefined if no override has an effect. */
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

/** Describes an override, including its end and its reason. `checks` are the levels without any override. */
export function overrideWords(override: Override, checks: Checks): string {
  return `${changeWords(override, checks)} until ${minuteOf(override.until)} (${override.reason})`;
}

function changeWords(change: OverrideChange, checks: Checks): string {
  if (change.kind === 'disable') return 'disabled';
  if (change.kind === 'force-stale') return `stored responses up to ${change.maxStaleSeconds} s stale`;
  return `${change.check} ${change.level} instead of ${checks[change.check]}`;
}

/** Returns an instant in UTC, without milliseconds. */
const minuteOf = (instant: number) => `${new Date(instant).toISOString().slice(0, 19)}Z`;

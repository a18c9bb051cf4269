import type { CheckLevel } from '../../../engine/model/checks.ts';
import { mergeItems } from '../../../engine/sharing/merge-items.ts';

/** The checks whose level an override can change. Checks that protect data are not included. */
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
      /** Serves stored responses without contacting the upstream. */
      readonly kind: 'force-stale';
      /** How long a stored response may be served after becoming stale, in seconds. */
      readonly maxStaleSeconds: number;
    }
  /** Refuses every request for the operation. */
  | { readonly kind: 'disable' };

/** The operator who set an override. */
export interface Operator {
  /** The name that the operator gave. Portico cannot verify it. */
  readonly by: string | undefined;
  /** The network address from which the admin side received the request. */
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

/** Returns the part of an override's id that follows the operation: the name of a check, `force-stale` or `disable`. */
export function changeId(change: OverrideChange): string {
  return change.kind === 'level' ? change.check : change.kind;
}

/**
 * Merges this gateway's changes since `base` into the overrides that all gateways share. If both sides have changed an
 * override, the version that was set later applies. This ensures that ending an override never ends one that has since
 * been set again.
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

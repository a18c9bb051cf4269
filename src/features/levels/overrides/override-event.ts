import { membersOf } from '../../../lib/plain-object.ts';
import type { ActionOrigin, OperatorAction } from '../../../engine/model/operator-action.ts';
import type { Override } from './override.ts';
import { overrideJson } from './override-files.ts';

/** A change to an override. */
export interface OverrideEvent {
  /** The kind of event: an operator has set, changed or ended the override, or the override has expired. */
  readonly event: 'set' | 'changed' | 'ended' | 'expired';
  /** The time of the event, in epoch milliseconds. */
  readonly at: number;
  /** The override as it was after the event or, if the event ended it, before the event. */
  readonly override: Override;
  /** The override that was changed. */
  readonly before?: Override;
  readonly origin: ActionOrigin;
}

/** Who ends the overrides whose end time has passed. */
export const EXPIRY: ActionOrigin = { actor: 'portico', way: 'portico' };

/** Converts an event to an operator's action. */
export function actionOf({ event, at, override, before, origin }: OverrideEvent): OperatorAction {
  const isOver = event === 'ended' || event === 'expired';
  const json = overrideJson(override);
  return {
    ...origin,
    at,
    action: `override ${event}`,
    outcome: 'done',
    subject: { operation: override.operation, change: override.kind === 'level' ? override.check : override.kind },
    ...(before !== undefined && { before: overrideJson(before) }),
    [isOver ? 'before' : 'after']: json,
  };
}

/**
 * Converts an operator's action to an event in the format of the overrides' API. Returns undefined if the action
 * is not about an override that was set, changed or ended.
 */
export function overrideEventJson({ at, action, outcome, before, after, by, from }: OperatorAction) {
  if (!action.startsWith('override ') || outcome !== 'done') return undefined;
  const event = action.slice('override '.length);
  return {
    at: new Date(at).toISOString(),
    event,
    ...membersOf(after ?? before),
    ...(event === 'ended' && { endedBy: { by, from } }),
  };
}

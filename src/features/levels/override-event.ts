import { membersOf } from '../../lib/plain-object.ts';
import type { ActionOrigin, OperatorAction } from '../../engine/model/operator-action.ts';
import { overrideJson } from './former-files.ts';
import { subjectOf } from './level-entry.ts';
import type { OverrideEvent } from './overrides.ts';

/** Who ends the overrides whose end time has passed. */
const EXPIRY: ActionOrigin = { actor: 'portico', way: 'portico' };

/**
 * Converts an event to an operator's action. When an override expires, every gateway that shares it reports this. The
 * action's time is the override's end time, so all of these actions are identical and only one is stored.
 */
export function actionOf({ event, at, override, before, origin }: OverrideEvent<ActionOrigin>): OperatorAction {
  const isOver = event === 'ended' || event === 'expired';
  return {
    ...(origin ?? EXPIRY),
    at: event === 'expired' ? override.until : at,
    action: `override ${event}`,
    outcome: 'done',
    subject: { operation: override.operation, change: subjectOf(override) },
    ...(before !== undefined && { before: overrideJson(before) }),
    [isOver ? 'before' : 'after']: overrideJson(override),
  };
}

/**
 * Converts an operator's action to an event, as the admin side shows it. Returns undefined if the action is not about an
 * override that was set, changed or ended.
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

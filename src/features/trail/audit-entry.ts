import {
  ACTION_OUTCOMES,
  type ActionDetails,
  type ActionOrigin,
  type OperatorAction,
} from '../../engine/model/operator-action.ts';
import { instantOf, parseObject } from '../../lib/state-file.ts';
import { membersOf } from '../../lib/plain-object.ts';

/** An entry in the audit trail. */
export interface AuditEntry extends OperatorAction {
  /** The number of refusals since the previous entry that were not recorded, because there were too many of them. */
  readonly omitted?: number | undefined;
  /** The gateway in a fleet that made the change. */
  readonly gateway?: string | undefined;
}

/**
 * Converts an entry to JSON. The time is in ISO 8601 format. The order of the members is the same after the entry has
 * been parsed again, because gateways recognize an entry by its line.
 */
export function auditEntryJson({ at, action, outcome, ...entry }: AuditEntry) {
  return { at: new Date(at).toISOString(), action, outcome, ...entry };
}

/** Formats an entry as one line of JSON, without the line break. */
export function formatAuditEntry(entry: AuditEntry): string {
  return JSON.stringify(auditEntryJson(entry));
}

/** The form of an action's name. */
const ACTION = /^[a-z][a-z -]{0,49}$/;

/** Parses a line of the audit trail. Returns undefined if the line is damaged. */
export function parseAuditEntry(line: string): AuditEntry | undefined {
  try {
    const { at, action, outcome, ...rest } = withAction(parseObject(line));
    const ended = ACTION_OUTCOMES.find((one) => one === outcome);
    if (typeof action !== 'string' || !ACTION.test(action) || ended === undefined) return undefined;
    return { ...(rest as unknown as ActionOrigin & ActionDetails), at: instantOf(at, 'at'), action, outcome: ended };
  } catch {
    return undefined;
  }
}

/** Converts a line of the trail as Portico wrote it while the trail contained only overrides. */
function withAction(line: ActionDetails): ActionDetails {
  if (line['event'] === undefined) return line;
  const { at, event, endedBy, ...override } = line;
  const isOver = event === 'ended' || event === 'expired';
  const { by, from } = event === 'ended' ? membersOf(endedBy) : override;
  return {
    at,
    action: typeof event === 'string' ? `override ${event}` : undefined,
    outcome: 'done',
    ...(event === 'expired' ? { actor: 'portico', way: 'portico' } : { actor: 'token', by, from, way: 'api' }),
    subject: { operation: override['operation'] },
    [isOver ? 'before' : 'after']: override,
  };
}

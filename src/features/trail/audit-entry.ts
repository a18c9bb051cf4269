import { instantOf, parseState } from '../../lib/state-file.ts';
import { membersOf } from '../../lib/plain-object.ts';

/** The changes that operators can make, and the events that the audit trail records in addition to them. */
export const AUDIT_ACTIONS = [
  'accept',
  'withdraw',
  'purge',
  'reload',
  'override set',
  'override changed',
  'override ended',
  'override expired',
  'lift',
  'try',
  'sign in',
  'change',
] as const;

/** An action in the audit trail. `change` is a change that was refused before it was known which one it was. */
export type AuditAction = (typeof AUDIT_ACTIONS)[number];

const OUTCOMES = ['done', 'refused', 'failed'] as const;

/** Who made a change, and from where. */
export interface Origin {
  /**
   * How the operator was recognized: `token`, or `loopback without token`. `unknown` is somebody who was refused, and
   * `portico` is the gateway itself. `process` is whoever controls the gateway's process or its files.
   */
  readonly actor: 'token' | 'operator' | 'loopback without token' | 'unknown' | 'process' | 'portico';
  /** The name that the operator gave. Portico cannot verify it. */
  readonly by?: string | undefined;
  /** The network address from which the admin side received the request. */
  readonly from?: string | undefined;
  /** The way in which the change was requested. `api` includes the command line. */
  readonly way: 'console' | 'api' | 'signal' | 'program' | 'file' | 'portico';
}

/** JSON values by name. */
export type AuditDetails = Readonly<Record<string, unknown>>;

/** An entry in the audit trail. It contains no secrets, and no personal data except the operator's name. */
export interface AuditEntry extends Origin {
  /** The time of the change, in epoch milliseconds. */
  readonly at: number;
  readonly action: AuditAction;
  readonly outcome: (typeof OUTCOMES)[number];
  /** Why the change was refused or failed. */
  readonly reason?: string | undefined;
  /** What was changed, such as an operation, a check, a fingerprint or tags. */
  readonly subject?: AuditDetails | undefined;
  /** The previous state of the subject. */
  readonly before?: AuditDetails | undefined;
  /** The new state of the subject, or the result of the change. */
  readonly after?: AuditDetails | undefined;
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

/** Parses a line of the audit trail. Returns undefined if the line is damaged. */
export function parseAuditEntry(line: string): AuditEntry | undefined {
  try {
    const { at, action, outcome, ...rest } = withAction(parseState(line));
    const known = AUDIT_ACTIONS.find((one) => one === action);
    const ended = OUTCOMES.find((one) => one === outcome);
    if (known === undefined || ended === undefined) return undefined;
    return { ...(rest as unknown as Origin & AuditDetails), at: instantOf(at, 'at'), action: known, outcome: ended };
  } catch {
    return undefined;
  }
}

/** Converts a line of the trail as Portico wrote it while the trail contained only overrides. */
function withAction(line: AuditDetails): AuditDetails {
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

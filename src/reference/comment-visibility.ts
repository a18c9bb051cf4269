import type { Caller, Permission } from './http/caller.ts';
import { plainError, refuse } from './http/legacy-response.ts';
import { recipientsOf } from './render/to-node.ts';
import type { NodeRow, Sql } from './store/sql.ts';

/** The callers who can see a comment. If `visibility` is null, everyone can. */
interface DecidedVisibility {
  readonly visibility: string | null;
  readonly recipients: readonly DraftRecipient[];
}

/** The parent of a comment, and the comment itself if it already exists. */
interface CommentPlace {
  readonly parent: NodeRow | undefined;
  readonly current?: NodeRow;
}

const isPrivate = (node: NodeRow | undefined): node is NodeRow & { visibility: string } =>
  typeof node?.visibility === 'string';

function recipientKeys(list: readonly DraftRecipient[]): Set<string> {
  return new Set(list.map(({ id, type }) => `${type} ${id}`));
}

function sameRecipients(one: readonly DraftRecipient[], other: readonly DraftRecipient[]): boolean {
  return recipientKeys(one).symmetricDifference(recipientKeys(other)).size === 0;
}

function inherit(sql: Sql, draft: CommentDraft, parent: NodeRow & { visibility: string }): DecidedVisibility {
  const recipients = recipientsOf(sql, parent.id);
  if (draft.visibility !== undefined && draft.visibility !== parent.visibility) {
    refuse(plainError(400, 'The visibility is inherited from the parent comment and cannot be changed.'));
  }
  if (draft.recipients !== undefined && parent.visibility !== 'recipients') {
    refuse(plainError(400, "The recipients can be set only when the visibility is 'recipients'."));
  }
  if (draft.recipients !== undefined && !sameRecipients(draft.recipients, recipients)) {
    refuse(plainError(400, 'The recipients are inherited from the parent comment and cannot be changed.'));
  }
  return { visibility: parent.visibility, recipients };
}

function requireOption(caller: Caller, visibility: string): void {
  const permission = PRIVATE_OPTIONS.get(visibility);
  if (permission === undefined) refuse(plainError(400, 'The visibility is unknown.'));
  if (!caller.permissions.has('Use Private Comments') || !caller.permissions.has(permission)) {
    refuse(plainError(400, "You don't have permission to use this visibility."));
  }
}

function requireKnown(sql: Sql, recipients: readonly DraftRecipient[]): void {
  for (const { id, type } of recipients) {
    const known = sql.get(`SELECT 1 FROM ${type === 'group' ? 'groups' : 'users'} WHERE id = ?`, id);
    if (known === undefined) refuse(plainError(400, 'A recipient does not exist.'));
  }
}

/**
 * Decides who can see a comment that is being written. Refuses the write with 400 if it breaks one of the
 * specification's three rules: an inherited visibility cannot be changed, recipients are allowed only with the
 * visibility `recipients`, and a private option requires its permission.
 */
export function decideVisibility(
  sql: Sql,
  caller: Caller,
  draft: CommentDraft,
  place: CommentPlace,
): DecidedVisibility {
  if (isPrivate(place.parent)) return inherit(sql, draft, place.parent);
  const stored = place.current?.visibility ?? PUBLIC_VISIBILITY;
  const visibility = draft.visibility ?? stored;
  if (draft.recipients !== undefined && visibility !== 'recipients') {
    refuse(plainError(400, "The recipients can be set only when the visibility is 'recipients'."));
  }
  if (visibility === PUBLIC_VISIBILITY) return { visibility: null, recipients: [] };
  if (draft.visibility !== undefined || draft.recipients !== undefined) requireOption(caller, visibility);
  const unchanged = place.current === undefined || visibility !== stored ? [] : recipientsOf(sql, place.current.id);
  const recipients = draft.recipients ?? unchanged;
  requireKnown(sql, recipients);
  return { visibility, recipients };
}

const REPLIES = `WITH RECURSIVE below (id) AS (
  SELECT ?1 UNION ALL SELECT c.id FROM nodes c JOIN below ON c.parent_id = below.id) SELECT id FROM below`;

/** Sets the visibility of a comment and of the replies that inherit it, and returns the comment. */
export function setVisibility(sql: Sql, commentId: number, decided: DecidedVisibility): NodeRow {
  const before = sql.get<NodeRow>('SELECT * FROM nodes WHERE id = ?', commentId);
  const inherits = decided.visibility !== null || before?.visibility !== null;
  const ids = inherits ? sql.all<{ id: number }>(REPLIES, commentId).map(({ id }) => id) : [commentId];
  for (const id of ids) {
    sql.run('UPDATE nodes SET visibility = ? WHERE id = ?', decided.visibility, id);
    sql.run('DELETE FROM recipients WHERE node_id = ?', id);
    for (const recipient of decided.recipients) {
      const text = 'INSERT OR IGNORE INTO recipients (node_id, kind, recipient_id) VALUES (?, ?, ?)';
      sql.run(text, id, recipient.type, recipient.id);
    }
  }
  const comment = sql.get<NodeRow>('SELECT * FROM nodes WHERE id = ?', commentId);
  if (comment === undefined) throw new Error(`comment ${commentId} does not exist`);
  return comment;
}

/** The visibility of a public comment. The specification does not name it, and it is stored as NULL. */
const PUBLIC_VISIBILITY = 'public';

/** The three private options, each with the permission it requires. The specification names only `recipients`. */
const PRIVATE_OPTIONS: ReadonlyMap<string, Permission> = new Map([
  ['recipients', 'Send private comments to own groups'],
  ['originalPoster', 'Send private comments to the original poster'],
  ['moderators', 'Send private comments to moderators'],
]);

/** A recipient in a comment write. */
interface DraftRecipient {
  readonly id: number;
  readonly type: 'group' | 'user';
}

/** The body of a comment write. Absent members are left unchanged. */
interface CommentDraft {
  readonly body?: string;
  readonly visibility?: string;
  readonly recipients?: readonly DraftRecipient[];
}

function readRecipient(value: unknown): DraftRecipient {
  const { id, type } = (typeof value === 'object' && value !== null ? value : {}) as Record<string, unknown>;
  const number = typeof id === 'string' && /^\d{1,15}$/.test(id) ? Number(id) : id;
  if (!Number.isSafeInteger(number) || (type !== 'group' && type !== 'user')) {
    refuse(plainError(400, "Each of 'recipients' needs an id and a type, which must be group or user."));
  }
  return { id: number as number, type };
}

function absent(value: unknown): value is undefined | null {
  return value === undefined || value === null;
}

/** Parses the body of a comment write. Refuses an invalid body with 400. */
export function readCommentDraft(value: unknown, needs: 'with body' | 'any part'): CommentDraft {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    refuse(plainError(400, 'The comment is missing.'));
  const { body, visibility, recipients } = value as Record<string, unknown>;
  const bodyMissing = absent(body) && needs === 'with body';
  if (bodyMissing || (!absent(body) && (typeof body !== 'string' || body.trim() === ''))) {
    refuse(plainError(400, "The 'body' is missing."));
  }
  if (!absent(visibility) && typeof visibility !== 'string')
    refuse(plainError(400, "The 'visibility' must be a string."));
  if (!absent(recipients) && !Array.isArray(recipients)) refuse(plainError(400, "The 'recipients' must be a list."));
  return {
    ...(typeof body === 'string' ? { body } : {}),
    ...(absent(visibility) ? {} : { visibility }),
    ...(Array.isArray(recipients) && recipients.length > 0 ? { recipients: recipients.map(readRecipient) } : {}),
  };
}

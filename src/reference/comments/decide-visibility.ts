import type { Caller, Permission } from '../http/caller.ts';
import { plainError, refuse } from '../http/errors.ts';
import { recipientsOf } from '../render/to-node.ts';
import type { NodeRow } from '../store/rows.ts';
import type { Sql } from '../store/sql.ts';
import type { CommentDraft, DraftRecipient } from './comment-draft.ts';

/** Who will see a comment; `visibility` null is everybody. */
export interface DecidedVisibility {
  readonly visibility: string | null;
  readonly recipients: readonly DraftRecipient[];
}

/** The comment's place: the node it is below, and the comment itself when it exists already. */
export interface CommentPlace {
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

function demandOption(caller: Caller, visibility: string): void {
  const permission = PRIVATE_OPTIONS.get(visibility);
  if (permission === undefined) refuse(plainError(400, 'The visibility is unknown.'));
  if (!caller.permissions.has('Use Private Comments') || !caller.permissions.has(permission)) {
    refuse(plainError(400, "You don't have permission to use this visibility."));
  }
}

function demandKnown(sql: Sql, recipients: readonly DraftRecipient[]): void {
  for (const { id, type } of recipients) {
    const known = sql.get(`SELECT 1 FROM ${type === 'group' ? 'groups' : 'users'} WHERE id = ?`, id);
    if (known === undefined) refuse(plainError(400, 'A recipient does not exist.'));
  }
}

/**
 * Decides who will see a written comment by the three rules of the specification, each refused with 400: an inherited
 * visibility does not change; recipients belong to `recipients` only; a private option needs its permission.
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
  if (draft.visibility !== undefined || draft.recipients !== undefined) demandOption(caller, visibility);
  const kept = place.current === undefined || visibility !== stored ? [] : recipientsOf(sql, place.current.id);
  const recipients = draft.recipients ?? kept;
  demandKnown(sql, recipients);
  return { visibility, recipients };
}

const REPLIES = `WITH RECURSIVE below (id) AS (
  SELECT ?1 UNION ALL SELECT c.id FROM nodes c JOIN below ON c.parent_id = below.id) SELECT id FROM below`;

/** Stores who may see a comment, for the replies below it too when it is private, as they inherit it; gives the comment's row. */
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
  if (comment === undefined) throw new Error(`no comment ${commentId}`);
  return comment;
}

/** The name of the visibility that limits nothing; the specification does not show it, and stored comments carry none. */
export const PUBLIC_VISIBILITY = 'public';

/** The three private options with the permission each needs; only `recipients` is named by the specification. */
export const PRIVATE_OPTIONS: ReadonlyMap<string, Permission> = new Map([
  ['recipients', 'Send private comments to own groups'],
  ['originalPoster', 'Send private comments to the original poster'],
  ['moderators', 'Send private comments to moderators'],
]);

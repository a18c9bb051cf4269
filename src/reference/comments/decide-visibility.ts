import type { Caller } from '../access/caller.ts';
import { plainError } from '../answers/legacy-errors.ts';
import { refuse } from '../answers/legacy-refusal.ts';
import { recipientsOf } from '../render/recipients-of.ts';
import type { NodeRow } from '../store/rows.ts';
import type { Sql } from '../store/sql.ts';
import type { CommentDraft, DraftRecipient } from './comment-draft.ts';
import { PRIVATE_OPTIONS, PUBLIC_VISIBILITY } from './visibility-options.ts';

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

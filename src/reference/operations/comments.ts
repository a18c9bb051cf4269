import { requireCredential, requirePermissions, type Caller, type Permission } from '../http/caller.ts';
import { missingPermission, refuse, jsonResponse, plainError } from '../http/legacy-response.ts';
import { findNode, visibleNodes } from '../render/visible-nodes.ts';
import { type LegacyRoute, readPathId } from '../http/route.ts';
import { listNodes } from '../lists/list-nodes.ts';
import { project, readProjection } from '../lists/projection.ts';
import { toNode, recipientsOf } from '../render/to-node.ts';
import { addNode } from '../store/nodes.ts';
import { nextId, type NodeRow, type Sql } from '../store/sql.ts';
import { recordAction } from './actions.ts';

/** Operation 4: one comment. */
export const getComment: LegacyRoute = {
  operation: 4,
  method: 'GET',
  path: '/services/v2/comment/:commentId.json',
  respond: ({ caller, query, param }, { sql }) => {
    requirePermissions(caller, 'View answers in the question page', 'View the question page');
    const comment = findNode(sql, readPathId(param('commentId'), 'comment id'), caller, 'comment', 'ideacomment');
    return jsonResponse(project(toNode(sql, comment, caller), readProjection(query)));
  },
};

/**
 * Operation 5: the comments directly below a node, oldest first (choice `all-comments`). The response is an array, without
 * an envelope.
 */
export const listNodeComments: LegacyRoute = {
  operation: 5,
  method: 'GET',
  path: '/services/v2/node/:nodeId/comment.json',
  respond: (request, { sql }) => {
    const { caller } = request;
    requirePermissions(caller, 'View answers in the question page', 'View the question page');
    const node = findNode(sql, readPathId(request.param('nodeId'), 'node id'), caller);
    const visible = visibleNodes(caller);
    const rows = sql.all<NodeRow>(
      `SELECT n.* FROM nodes n WHERE n.parent_id = ? AND n.type IN ('comment', 'ideacomment') AND ${visible.text}
       ORDER BY n.created_at, n.id`,
      node.id,
      ...visible.values,
    );
    return jsonResponse(rows.map((row) => toNode(sql, row, caller)));
  },
};

/** Operation 16: the comments on an answer, in the envelope. */
export const listAnswerComments: LegacyRoute = {
  operation: 16,
  method: 'GET',
  path: '/services/v2/answer/:answerId/comment.json',
  respond: (request, { sql }) => {
    const { caller } = request;
    requirePermissions(caller, 'View answers in the question page', 'View the question page');
    const answer = findNode(sql, readPathId(request.param('answerId'), 'answer id'), caller, 'answer');
    const condition = { text: 'n.parent_id = ?', values: [answer.id] };
    return jsonResponse(listNodes(sql, request, { types: ['comment'], condition, defaultSort: '', toItem: toNode }));
  },
};

/**
 * Comment write (inferred): adds a comment to a node. A reply to a private comment inherits its visibility. The status, the
 * texts of errors and the names of the options are choices (choice `comment-writes`).
 */
export const createComment: LegacyRoute = {
  method: 'POST',
  path: '/services/v2/node/:nodeId/comment.json',
  respond: ({ caller, param, body: sent }, { sql, clock, url }) => {
    requireCredential(caller);
    requirePermissions(caller, 'View answers in the question page', 'View the question page');
    const parent = findNode(sql, readPathId(param('nodeId'), 'node id'), caller);
    const draft = readCommentDraft(sent, 'with body');
    const visibility = decideVisibility(sql, caller, draft, { parent });
    const onIdea = parent.type === 'idea' || parent.type === 'ideacomment';
    const comment = sql.transaction(() => {
      const type = onIdea ? 'ideacomment' : 'comment';
      const showsActivity = visibility.visibility === null;
      const body = draft.body ?? '';
      const added = addNode(sql, { type, parent, authorId: caller.id, body, at: clock(), showsActivity });
      const visible = setVisibility(sql, added.id, visibility);
      recordAction(sql, 'commented', caller.id, visible, clock());
      return visible;
    });
    const location = `${url}/services/v2/comment/${comment.id}.json`;
    return jsonResponse(toNode(sql, comment, caller), 201, { Location: location });
  },
};

/**
 * Comment write (inferred): changes a comment's body or visibility. Only the author may edit a comment, unless the
 * comment is a wiki.
 */
export const updateComment: LegacyRoute = {
  method: 'PUT',
  path: '/services/v2/comment/:commentId.json',
  respond: ({ caller, param, body }, { sql, clock }) => {
    requireCredential(caller);
    requirePermissions(caller, 'View answers in the question page', 'View the question page');
    const comment = findNode(sql, readPathId(param('commentId'), 'comment id'), caller, 'comment', 'ideacomment');
    if (comment.wiki === 0 && comment.author_id !== caller.id) refuse(missingPermission());
    const draft = readCommentDraft(body, 'any part');
    const parent = sql.get<NodeRow>('SELECT * FROM nodes WHERE id = ?', comment.parent_id);
    const visibility = decideVisibility(sql, caller, draft, { parent, current: comment });
    const changed = sql.transaction(() => {
      if (draft.body !== undefined) editBody(sql, comment.id, draft.body, caller.id, clock());
      return setVisibility(sql, comment.id, visibility);
    });
    return jsonResponse(toNode(sql, changed, caller));
  },
};

/** Replaces a comment's body and adds a revision. */
function editBody(sql: Sql, commentId: number, body: string, editorId: number, at: number): void {
  sql.run(
    `UPDATE nodes SET body = ?, last_active_at = ?, last_active_user_id = ?, last_edited_action = ?,
     revision_ids = rtrim(revision_ids, ']') || ',' || ? || ']' WHERE id = ?`,
    body,
    at,
    editorId,
    nextId(sql, 'actions'),
    // The id is bound as text, because a number would be bound as REAL and printed with a fraction.
    String(nextId(sql, 'revisions')),
    commentId,
  );
}

/** Determines who can see a comment. If `visibility` is null, everyone can see it. */
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
 * Decides who can see a comment that is being written. Refuses the write with status 400 if it breaks one of the
 * specification's three rules: an inherited visibility cannot be changed, recipients are allowed only with the
 * `recipients` visibility, and each private option requires its permission.
 */
function decideVisibility(sql: Sql, caller: Caller, draft: CommentDraft, place: CommentPlace): DecidedVisibility {
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
function setVisibility(sql: Sql, commentId: number, decided: DecidedVisibility): NodeRow {
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

/** The visibility of a public comment, which is stored as NULL and has no name in the specification. */
const PUBLIC_VISIBILITY = 'public';

/** The three private options, each with the permission that it requires. The specification names only `recipients`. */
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

/** The body of a comment write. If a member is absent, the current value is preserved. */
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

/** Parses the body of a comment write. Refuses an invalid body with status 400. */
function readCommentDraft(value: unknown, needs: 'with body' | 'any part'): CommentDraft {
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

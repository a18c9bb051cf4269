import { decideVisibility, readCommentDraft, setVisibility } from '../comment-visibility.ts';
import { requireCredential, requirePermissions } from '../http/caller.ts';
import { missingPermission, refuse, jsonResponse } from '../http/legacy-response.ts';
import { findNode, visibleNodes } from '../render/visible-nodes.ts';
import { type LegacyRoute, readPathId } from '../http/route.ts';
import { listNodes } from '../lists/list-nodes.ts';
import { project, readProjection } from '../lists/projection.ts';
import { toNode } from '../render/to-node.ts';
import { addNode, editBody, recordAction } from '../store/nodes.ts';
import type { NodeRow } from '../store/sql.ts';

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

/** Operation 5: the comments directly below a node, oldest first. The response is an array without an envelope. */
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

/** Comment write (inferred): adds a comment below a node. A reply to a private comment inherits its visibility. */
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
 * Comment write (inferred): changes a comment's body or visibility. Only the author may edit a comment that is not a
 * wiki.
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

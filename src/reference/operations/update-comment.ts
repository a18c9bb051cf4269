import { demandCredential, demandPermissions } from '../access/demand.ts';
import { jsonAnswer } from '../answers/legacy-answer.ts';
import { missingPermission } from '../answers/legacy-errors.ts';
import { refuse } from '../answers/legacy-refusal.ts';
import type { LegacyRoute } from '../answers/legacy-route.ts';
import { readCommentDraft } from '../comments/comment-draft.ts';
import { decideVisibility } from '../comments/decide-visibility.ts';
import { setVisibility } from '../comments/set-visibility.ts';
import { toNode } from '../render/to-node.ts';
import { editBody } from '../store/edit-body.ts';
import { findNode } from '../store/find-node.ts';
import { readPathId } from '../store/path-id.ts';
import type { NodeRow } from '../store/rows.ts';

/** Comment writing (inferred): changes a comment's body or visibility; one that is no wiki is edited only by its author. */
export const updateComment: LegacyRoute = {
  method: 'PUT',
  path: '/services/v2/comment/:commentId.json',
  answer: ({ caller, param, body }, { sql, clock }) => {
    demandCredential(caller);
    demandPermissions(caller, 'View answers in the question page', 'View the question page');
    const comment = findNode(sql, readPathId(param('commentId'), 'comment id'), caller, 'comment', 'ideacomment');
    if (comment.wiki === 0 && comment.author_id !== caller.id) refuse(missingPermission());
    const draft = readCommentDraft(body, 'any part');
    const parent = sql.get<NodeRow>('SELECT * FROM nodes WHERE id = ?', comment.parent_id);
    const visibility = decideVisibility(sql, caller, draft, { parent, current: comment });
    const changed = sql.transaction(() => {
      if (draft.body !== undefined) editBody(sql, comment.id, draft.body, caller.id, clock());
      return setVisibility(sql, comment.id, visibility);
    });
    return jsonAnswer(toNode(sql, changed, caller));
  },
};

import { demandCredential, demandPermissions } from '../access/demand.ts';
import { jsonAnswer } from '../answers/legacy-answer.ts';
import type { LegacyRoute } from '../answers/legacy-route.ts';
import { readCommentDraft } from '../comments/comment-draft.ts';
import { decideVisibility } from '../comments/decide-visibility.ts';
import { setVisibility } from '../comments/set-visibility.ts';
import { toNode } from '../render/to-node.ts';
import { addNode } from '../store/add-node.ts';
import { findNode } from '../store/find-node.ts';
import { readPathId } from '../store/path-id.ts';
import { recordAction } from '../store/record-action.ts';

/** Comment writing (inferred): adds a comment below a node; a reply to a private comment inherits its visibility. */
export const createComment: LegacyRoute = {
  method: 'POST',
  path: '/services/v2/node/:nodeId/comment.json',
  answer: ({ caller, param, body }, { sql, clock, url }) => {
    demandCredential(caller);
    demandPermissions(caller, 'View answers in the question page', 'View the question page');
    const parent = findNode(sql, readPathId(param('nodeId'), 'node id'), caller);
    const draft = readCommentDraft(body, 'with body');
    const visibility = decideVisibility(sql, caller, draft, { parent });
    const onIdea = parent.type === 'idea' || parent.type === 'ideacomment';
    const comment = sql.transaction(() => {
      const type = onIdea ? 'ideacomment' : 'comment';
      const moves = visibility.visibility === null ? 'thread' : 'nothing';
      const added = addNode(sql, { type, parent, authorId: caller.id, body: draft.body ?? '', at: clock(), moves });
      const visible = setVisibility(sql, added.id, visibility);
      recordAction(sql, 'commented', caller.id, visible, clock());
      return visible;
    });
    const location = `${url}/services/v2/comment/${comment.id}.json`;
    return jsonAnswer(toNode(sql, comment, caller), 201, { Location: location });
  },
};

import { requirePermissions, requireCredential } from '../http/caller.ts';
import { jsonResponse, invalidId, notFound, plainError, refuse } from '../http/legacy-response.ts';
import { type LegacyRoute, readPathId } from '../http/route.ts';
import { listNodes } from '../lists/list-nodes.ts';
import { toIdea, toNode } from '../render/to-node.ts';
import { findNode } from '../render/visible-nodes.ts';
import type { AttachmentRow } from '../store/sql.ts';
import { sendAttachments } from '../tracker/send-attachments.ts';

/** Operation 6: the question list. */
export const listQuestions: LegacyRoute = {
  operation: 6,
  method: 'GET',
  path: '/services/v2/question.json',
  respond: (request, { sql }) => {
    requirePermissions(request.caller, 'View the questions list');
    return jsonResponse(listNodes(sql, request, { types: ['question'], defaultSort: 'active', toItem: toNode }));
  },
};

/** Operation 13: the article list. */
export const listArticles: LegacyRoute = {
  operation: 13,
  method: 'GET',
  path: '/services/v2/article.json',
  respond: (request, { sql }) => {
    requirePermissions(request.caller, 'View list kbentry');
    return jsonResponse(listNodes(sql, request, { types: ['kbentry'], defaultSort: 'active', toItem: toNode }));
  },
};

/** Operation 8: the idea list. */
export const listIdeas: LegacyRoute = {
  operation: 8,
  method: 'GET',
  path: '/services/v2/idea.json',
  respond: (request, { sql }) => {
    requirePermissions(request.caller, 'View list idea');
    return jsonResponse(listNodes(sql, request, { types: ['idea'], defaultSort: 'active', toItem: toIdea }));
  },
};

const FORBIDDEN = "Attachments is disabled or you don't have permission to add attachments to this issue.";

/**
 * Operation 3: copies a node's attachments to an issue over HTTP and returns the tracker's attachment objects. All errors
 * except the documented 403 are choices (choice `tracker-errors`).
 */
export const copyAttachments: LegacyRoute = {
  operation: 3,
  method: 'POST',
  path: '/services/v2/issuetracker/node/:nodeId/issue/:issueId/attachments.json',
  respond: async ({ caller, param }, { sql, trackerUrl }) => {
    requireCredential(caller);
    if (!caller.permissions.has('Add attachments to issues')) refuse(plainError(403, FORBIDDEN));
    const nodeId = readPathId(param('nodeId'), 'node id');
    const issueId = readIssueId(param('issueId'));
    const node = findNode(sql, nodeId, caller, 'question', 'answer', 'comment');
    const files = sql.all<AttachmentRow>('SELECT * FROM attachments WHERE node_id = ? ORDER BY id', node.id);
    const sent = await sendAttachments(trackerUrl, issueId, files);
    if (sent.outcome === 'copied') return jsonResponse(sent.attachments);
    if (sent.outcome === 'forbidden') return plainError(403, FORBIDDEN);
    if (sent.outcome === 'unknown issue') return notFound();
    return plainError(500, 'The issue tracker could not be reached.');
  },
};

/** Reads the id or key of an issue, such as `10001` or `QA-1`. Refuses any other value with status 400. */
function readIssueId(text: string): string {
  if (!/^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/.test(text)) refuse(invalidId('issue id'));
  return text;
}

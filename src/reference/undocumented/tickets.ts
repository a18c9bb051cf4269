import { requireCredential } from '../http/caller.ts';
import { notFound, plainError, htmlErrorPage, jsonResponse, type LegacyResponse } from '../http/legacy-response.ts';
import { findNode } from '../render/visible-nodes.ts';
import { type LegacyRoute, readPathId } from '../http/route.ts';
import type { AttachmentRow } from '../store/sql.ts';
import { KNOWN_ISSUES } from '../tracker/issues.ts';
import { findTicket } from '../tracker/send-attachments.ts';

async function ticketResponse(trackerUrl: string, key: string): Promise<LegacyResponse> {
  const ticket = await findTicket(trackerUrl, key);
  if (ticket.outcome !== 'found') {
    return ticket.outcome === 'unknown' ? notFound() : plainError(500, 'The issue tracker could not be reached.');
  }
  // The specification does not show the structure of the response, so the id is returned under both names that clients
  // may expect.
  return jsonResponse({ id: ticket.id, issueId: ticket.id, key: ticket.key, url: ticket.self });
}

/**
 * Undocumented routes that return the issue id needed for copying attachments. Nodes are distributed among the
 * tracker's issues.
 */
export const ticketRoutes: readonly LegacyRoute[] = [
  {
    method: 'GET',
    path: '/services/v2/issuetracker/node/:nodeId/ticket.json',
    respond: ({ caller, param }, { sql, trackerUrl }) => {
      requireCredential(caller);
      const id = readPathId(param('nodeId'), 'node id');
      findNode(sql, id, caller);
      return ticketResponse(trackerUrl, KNOWN_ISSUES[id % KNOWN_ISSUES.length]?.id ?? '');
    },
  },
  {
    method: 'GET',
    path: '/services/v2/issuetracker/key/:issueKey/ticket.json',
    respond: ({ caller, param }, { trackerUrl }) => {
      requireCredential(caller);
      return ticketResponse(trackerUrl, param('issueKey'));
    },
  },
];

/** Returns the content of an attachment. The attachment's URL is shown in the node to which it belongs. */
export const attachmentContentRoute: LegacyRoute = {
  method: 'GET',
  path: '/storage/attachments/:name',
  respond: ({ caller, param }, { sql }) => {
    const id = /^(\d{1,15})-/.exec(param('name'))?.[1];
    const row =
      id === undefined ? undefined : sql.get<AttachmentRow>('SELECT * FROM attachments WHERE id = ?', Number(id));
    if (row === undefined) return htmlErrorPage(404, 'No such attachment');
    findNode(sql, row.node_id, caller);
    return { status: 200, headers: {}, payload: { kind: 'bytes', mimeType: row.mime_type, bytes: row.content } };
  },
};

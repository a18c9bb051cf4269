import { demandCredential } from '../access/demand.ts';
import { jsonAnswer, type LegacyAnswer } from '../answers/legacy-answer.ts';
import { notFound, plainError } from '../answers/legacy-errors.ts';
import type { LegacyRoute } from '../answers/legacy-route.ts';
import { findNode } from '../store/find-node.ts';
import { readPathId } from '../store/path-id.ts';
import { findTicket } from '../tracker/find-ticket.ts';
import { KNOWN_ISSUE } from '../tracker/issues.ts';

async function ticketAnswer(trackerUrl: string, key: string): Promise<LegacyAnswer> {
  const ticket = await findTicket(trackerUrl, key);
  if (ticket.outcome !== 'found') {
    return ticket.outcome === 'unknown' ? notFound() : plainError(500, 'The issue tracker could not be reached.');
  }
  // The shape is not shown by the specification; the id is given under both names that a reader may look for.
  return jsonAnswer({ id: ticket.id, issueId: ticket.id, key: ticket.key, url: ticket.self });
}

/** The ticket look-ups, which lead to the issue id that the attachment copy takes; every node leads to the one known issue. */
export const ticketRoutes: readonly LegacyRoute[] = [
  {
    method: 'GET',
    path: '/services/v2/issuetracker/node/:nodeId/ticket.json',
    answer: ({ caller, param }, { sql, trackerUrl }) => {
      demandCredential(caller);
      findNode(sql, readPathId(param('nodeId'), 'node id'), caller);
      return ticketAnswer(trackerUrl, KNOWN_ISSUE.id);
    },
  },
  {
    method: 'GET',
    path: '/services/v2/issuetracker/key/:issueKey/ticket.json',
    answer: ({ caller, param }, { trackerUrl }) => {
      demandCredential(caller);
      return ticketAnswer(trackerUrl, param('issueKey'));
    },
  },
];

import { requirePermissions } from '../http/caller.ts';
import { jsonResponse } from '../http/legacy-response.ts';
import type { LegacyRoute } from '../http/route.ts';
import { listTopics } from '../lists/list-people.ts';
import { listPage } from '../lists/paging.ts';
import { toFormattedDate } from '../render/text.ts';

interface SpaceRow {
  readonly id: number;
  readonly name: string;
  readonly slug: string;
  readonly created_at: number;
}

function toSpace(row: SpaceRow): Record<string, unknown> {
  return {
    id: row.id,
    type: 'space',
    name: row.name,
    slug: row.slug,
    creationDate: row.created_at,
    creationDateFormatted: toFormattedDate(row.created_at),
  };
}

/** Undocumented routes for listing topics and spaces. */
export const placeRoutes: readonly LegacyRoute[] = [
  {
    method: 'GET',
    path: '/services/v2/topic.json',
    respond: (request, { sql }) => {
      requirePermissions(request.caller, 'View the questions list');
      const word = `%${(request.query.get('q') ?? '').replaceAll(/[%_*\\]/g, '')}%`;
      return jsonResponse(listTopics(sql, request, { text: 't.name LIKE ?', values: [word] }));
    },
  },
  {
    method: 'GET',
    path: '/services/v2/space.json',
    respond: ({ caller, query }, { sql }) => {
      requirePermissions(caller, 'View the questions list');
      const spaces = { columns: '*', from: 'spaces', values: [], order: 'id', sort: '', toItem: toSpace };
      return jsonResponse(listPage(sql, query, { firstPage: 1, size: 35 }, spaces));
    },
  },
];

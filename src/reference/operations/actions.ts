import { requireCredential, requireGroup, requirePermissions } from '../http/caller.ts';
import { jsonResponse } from '../http/legacy-response.ts';
import type { LegacyRoute } from '../http/route.ts';
import { readPageRequest } from '../lists/paging.ts';
import { project, readProjection } from '../lists/projection.ts';
import { toAction } from '../render/to-action.ts';
import type { ActionRow } from '../store/sql.ts';

/**
 * Operation 7: the action log, newest action first. A client requests older actions with the `moreResults` parameter.
 */
export const listActions: LegacyRoute = {
  operation: 7,
  method: 'GET',
  path: '/services/v2/action.json',
  respond: ({ caller, query }, context) => {
    requireCredential(caller);
    requirePermissions(caller, 'View analytics');
    requireGroup(caller, 'Super Users');
    const page = readPageRequest(query, { firstPage: 1, size: 20 });
    const olderThan = /^\d{1,15}$/.exec(query.get('moreResults') ?? '')?.[0];
    const rows = context.sql.all<ActionRow>(
      'SELECT * FROM actions WHERE acted_at < ? ORDER BY acted_at DESC, id DESC LIMIT ? OFFSET ?',
      olderThan === undefined ? Number.MAX_SAFE_INTEGER : Number(olderThan),
      page.size,
      page.offset,
    );
    const projection = readProjection(query);
    const actions = rows.map((row) => project(toAction(context, row), projection));
    return jsonResponse({ actions, moreResults: rows.at(-1)?.acted_at ?? 0 });
  },
};

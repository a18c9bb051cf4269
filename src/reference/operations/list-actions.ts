import { demandCredential, demandGroup, demandPermissions } from '../access/demand.ts';
import { jsonAnswer } from '../answers/legacy-answer.ts';
import type { LegacyRoute } from '../answers/legacy-route.ts';
import { readPageRequest } from '../lists/page-request.ts';
import { project, readProjection } from '../lists/projection.ts';
import { toAction } from '../render/to-action.ts';
import type { ActionRow } from '../store/rows.ts';

/** Operation 7: the action log, newest first; a `moreResults` value sent back as a parameter gives what is older. */
export const listActions: LegacyRoute = {
  operation: 7,
  method: 'GET',
  path: '/services/v2/action.json',
  answer: ({ caller, query }, context) => {
    demandCredential(caller);
    demandPermissions(caller, 'View analytics');
    demandGroup(caller, 'Super Users');
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
    return jsonAnswer({ actions, moreResults: rows.at(-1)?.acted_at ?? 0 });
  },
};

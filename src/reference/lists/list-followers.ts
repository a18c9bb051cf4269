import type { LegacyRequest } from '../http/route.ts';
import { toUser } from '../render/to-user.ts';
import type { Sql, UserRow } from '../store/sql.ts';
import { listPage } from './paging.ts';
import { toFormattedDate } from '../render/text.ts';

interface FollowRow extends UserRow {
  readonly follow_id: number;
  readonly follow_active: number;
  readonly followed_at: number;
}

/** A followed node or topic. */
interface Followed {
  readonly kind: 'node' | 'topic';
  readonly id: number;
  /** The type shown in a follow relation, for example `question` or `topic`. */
  readonly type: string;
}

const FOLLOWER_SORTS: ReadonlyMap<string, string> = new Map([
  ['reputation', 'u.reputation DESC, u.id'],
  ['username', 'u.username COLLATE NOCASE, u.id'],
  ['recent', 'f.created_at DESC, f.id'],
  ['oldest', 'f.created_at, f.id'],
]);

/**
 * Renders a follow relation. The specification does not show the relation's fields, so the reference server defines its
 * own fields (choice `follow-relation`).
 */
function toFollowRelation(sql: Sql, row: FollowRow, followed: Followed): Record<string, unknown> {
  return {
    id: row.follow_id,
    type: 'followrelation',
    creationDate: row.followed_at,
    creationDateFormatted: toFormattedDate(row.followed_at),
    active: row.follow_active === 1,
    follower: toUser(sql, row),
    followed: { id: followed.id, type: followed.type },
  };
}

/**
 * Returns one page of followers as users, or as follow relations if `details=true`. The first page is page 0.
 * `active=false` also includes inactive followers. All other values are the defaults (choice `details-and-active`).
 */
export function listFollowers(sql: Sql, { query }: LegacyRequest, followed: Followed): Record<string, unknown> {
  const details = query.get('details')?.toLowerCase() === 'true';
  const onlyActive = query.get('active')?.toLowerCase() !== 'false';
  const sort = query.get('sort') ?? '';
  return listPage<FollowRow>(
    sql,
    query,
    { firstPage: 0, size: 35 },
    {
      columns: 'u.*, f.id AS follow_id, f.active AS follow_active, f.created_at AS followed_at',
      from: `follows f JOIN users u ON u.id = f.follower_id
      WHERE f.kind = ? AND f.target_id = ? ${onlyActive ? 'AND f.active = 1' : ''}`,
      values: [followed.kind, followed.id],
      order: FOLLOWER_SORTS.get(sort) ?? 'f.id',
      sort: FOLLOWER_SORTS.has(sort) ? sort : '',
      toItem: (row) => (details ? toFollowRelation(sql, row, followed) : toUser(sql, row)),
    },
  );
}

import type { LegacyRequest } from '../http/route.ts';
import { type SqlCondition, visibleNodes } from '../render/visible-nodes.ts';
import type { NodeRow } from '../store/rows.ts';
import type { Sql, SqlValue } from '../store/sql.ts';
import { readPageRequest, toPagedList } from './paging.ts';
import { project, readProjection } from './projection.ts';

/** How one address lists nodes. */
export interface NodeListing {
  readonly types: readonly string[];
  /** The list's own condition, for example on the parent. */
  readonly condition?: SqlCondition;
  /** The sort in effect when none or an unknown one is asked for; '' is oldest first. */
  readonly defaultSort: 'active' | '';
  readonly toItem: (sql: Sql, node: NodeRow, caller: LegacyRequest['caller']) => Record<string, unknown>;
}

const PAGES = { firstPage: 1, size: 15 } as const;

/** One page of nodes in the envelope: filtered, sorted, projected, without what the caller may not see. */
export function listNodes(sql: Sql, request: LegacyRequest, listing: NodeListing): Record<string, unknown> {
  const { query, caller } = request;
  const conditions: SqlCondition[] = [
    { text: `n.type IN (${listing.types.map(() => '?').join(', ')})`, values: listing.types },
    ...(listing.condition === undefined ? [] : [listing.condition]),
    ...kindFilter(query),
    ...spaceFilter(query),
    ...topicsFilter(query),
    ...unansweredFilter(query),
    ...searchFilter(query),
    visibleNodes(caller),
  ];
  const where = conditions.map(({ text }) => text).join(' AND ');
  const values = conditions.flatMap((condition): readonly SqlValue[] => condition.values);
  const asked = query.get('sort') ?? '';
  const sort = NODE_SORTS.has(asked) ? asked : listing.defaultSort;
  const order = NODE_SORTS.get(sort) ?? 'n.created_at ASC';
  const page = readPageRequest(query, PAGES);
  const total =
    sql.get<{ total: number }>(`SELECT COUNT(*) AS total FROM nodes n WHERE ${where}`, ...values)?.total ?? 0;
  const rows = sql.all<NodeRow>(
    `SELECT n.* FROM nodes n WHERE ${where} ORDER BY ${order}, n.id ${sort === '' ? 'ASC' : 'DESC'} LIMIT ? OFFSET ?`,
    ...values,
    page.size,
    page.offset,
  );
  const projection = readProjection(query);
  const items = rows.map((row) => project(listing.toItem(sql, row, caller), projection));
  return toPagedList({ request: page, sort, sorts: NODE_SORT_NAMES, total, items });
}

const like = (text: string): string => `%${text.replace(/[\\%_]/g, (sign) => `\\${sign}`)}%`;

function wordCondition(word: string): SqlCondition {
  const pattern = like(word);
  const text = `(n.title LIKE ? ESCAPE '\\' OR n.body LIKE ? ESCAPE '\\' OR EXISTS (SELECT 1 FROM node_topics nt
    JOIN topics t ON t.id = nt.topic_id WHERE nt.node_id = n.id AND t.name LIKE ? ESCAPE '\\'))`;
  return { text, values: [pattern, pattern, pattern] };
}

/** `q`: every word must occur in title, body or topics, in any case; a trailing `*` changes nothing, as parts of words match. */
export function searchFilter(query: URLSearchParams): SqlCondition[] {
  const words = (query.get('q') ?? '').split(/\s+/).map((word) => word.replaceAll('*', ''));
  return words
    .filter((word) => word !== '')
    .slice(0, 20)
    .map(wordCondition);
}

function listed(query: URLSearchParams, name: string): string[] {
  return query
    .getAll(name)
    .flatMap((value) => value.split(','))
    .map((value) => value.trim())
    .filter((value) => value !== '');
}

/** `topics`: names or ids, repeated or in a comma list; a node with any of them matches. */
export function topicsFilter(query: URLSearchParams): SqlCondition[] {
  const topics = listed(query, 'topics').slice(0, 100);
  if (topics.length === 0) return [];
  const marks = topics.map(() => '?').join(', ');
  const text = `EXISTS (SELECT 1 FROM node_topics nt JOIN topics t ON t.id = nt.topic_id WHERE nt.node_id = n.id
    AND (t.name COLLATE NOCASE IN (${marks}) OR CAST(t.id AS TEXT) IN (${marks})))`;
  return [{ text, values: [...topics, ...topics] }];
}

/** `unanswered`: present and not `false` means questions without an answer. */
export function unansweredFilter(query: URLSearchParams): SqlCondition[] {
  const value = query.get('unanswered');
  if (value === null || ['false', '0', 'no'].includes(value.toLowerCase())) return [];
  return [{ text: "NOT EXISTS (SELECT 1 FROM nodes a WHERE a.parent_id = n.id AND a.type = 'answer')", values: [] }];
}

/** `spaceId`, or `space` as an older client sends it. */
export function spaceFilter(query: URLSearchParams): SqlCondition[] {
  const space = query.get('spaceId') ?? query.get('space');
  return space === null || space === '' ? [] : [{ text: 'CAST(n.space_id AS TEXT) = ?', values: [space] }];
}

/** `type` and `lang` of the search group. */
export function kindFilter(query: URLSearchParams): SqlCondition[] {
  const columns = [
    ['type', 'n.type'],
    ['lang', 'n.lang'],
  ] as const;
  return columns.flatMap(([name, column]) => {
    const values = listed(query, name).slice(0, 20);
    return values.length === 0 ? [] : [{ text: `${column} IN (${values.map(() => '?').join(', ')})`, values }];
  });
}

const FAVORITES = '(SELECT COUNT(*) FROM favorites f WHERE f.node_id = n.id)';
const FOLLOWERS = "(SELECT COUNT(*) FROM follows f WHERE f.kind = 'node' AND f.target_id = n.id AND f.active = 1)";
const ANSWERS = "(SELECT COUNT(*) FROM nodes a WHERE a.parent_id = n.id AND a.type = 'answer')";
const COMMENTS = "(SELECT COUNT(*) FROM nodes c WHERE c.parent_id = n.id AND c.type IN ('comment', 'ideacomment'))";
const USED = `(SELECT COALESCE(MAX(t.used_count), 0) FROM node_topics nt JOIN topics t ON t.id = nt.topic_id
  WHERE nt.node_id = n.id)`;

/** The order on nodes `n` of each sort name, in the order in which `sorts` lists them. */
export const NODE_SORTS: ReadonlyMap<string, string> = new Map([
  ['active', 'n.last_active_at DESC'],
  ['newest', 'n.created_at DESC'],
  ['hottest', `(n.score * 20 + n.views + ${ANSWERS} * 30) DESC`],
  ['votes', 'n.score DESC'],
  ['viewCount', 'n.views DESC'],
  ['usedCount', `${USED} DESC`],
  ['answerCount', `${ANSWERS} DESC`],
  ['answerCountAsc', `${ANSWERS} ASC`],
  ['commentCount', `${COMMENTS} DESC`],
  ['favoriteCount', `${FAVORITES} DESC`],
  ['followers', `${FOLLOWERS} DESC`],
  ['reportCount', 'n.reports DESC'],
]);

/** The names that a node list offers as `sorts`. */
export const NODE_SORT_NAMES: readonly string[] = [...NODE_SORTS.keys()];

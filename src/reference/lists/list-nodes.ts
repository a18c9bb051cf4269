import type { LegacyRequest } from '../http/route.ts';
import { type SqlCondition, visibleNodes } from '../render/visible-nodes.ts';
import type { NodeRow, Sql, SqlValue } from '../store/sql.ts';
import { readPageRequest, toPagedList } from './paging.ts';
import { project, readProjection } from './projection.ts';

/** The list of nodes that a route returns. */
interface NodeListing {
  readonly types: readonly string[];
  /** An additional condition, for example on the parent. */
  readonly condition?: SqlCondition;
  /** The sort order that is used if the requested one is absent or unknown. An empty string means oldest first. */
  readonly defaultSort: 'active' | '';
  readonly toItem: (sql: Sql, node: NodeRow, caller: LegacyRequest['caller']) => Record<string, unknown>;
}

const PAGES = { firstPage: 1, size: 15 } as const;

/**
 * Returns one page of the nodes that the caller may see: filtered, sorted, projected and wrapped in the list envelope.
 */
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
  const requestedSort = query.get('sort') ?? '';
  const sort = NODE_SORTS.has(requestedSort) ? requestedSort : listing.defaultSort;
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

/**
 * Reads `q`. Each word must occur in the title, the body or a topic, regardless of case. Parts of longer words also
 * match, so `*` has no effect.
 */
function searchFilter(query: URLSearchParams): SqlCondition[] {
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

/**
 * Reads `topics`, which contains names or ids, either in repeated parameters or separated by commas. A node with any of
 * these topics matches.
 */
function topicsFilter(query: URLSearchParams): SqlCondition[] {
  const topics = listed(query, 'topics').slice(0, 100);
  if (topics.length === 0) return [];
  const marks = topics.map(() => '?').join(', ');
  const text = `EXISTS (SELECT 1 FROM node_topics nt JOIN topics t ON t.id = nt.topic_id WHERE nt.node_id = n.id
    AND (t.name COLLATE NOCASE IN (${marks}) OR CAST(t.id AS TEXT) IN (${marks})))`;
  return [{ text, values: [...topics, ...topics] }];
}

/** Reads `unanswered`. If it is present and not false, only questions without an answer match. */
function unansweredFilter(query: URLSearchParams): SqlCondition[] {
  const value = query.get('unanswered');
  if (value === null || ['false', '0', 'no'].includes(value.toLowerCase())) return [];
  return [{ text: "NOT EXISTS (SELECT 1 FROM nodes a WHERE a.parent_id = n.id AND a.type = 'answer')", values: [] }];
}

/** Reads `spaceId`, or the `space` parameter that older clients send instead. */
function spaceFilter(query: URLSearchParams): SqlCondition[] {
  const space = query.get('spaceId') ?? query.get('space');
  return space === null || space === '' ? [] : [{ text: 'CAST(n.space_id AS TEXT) = ?', values: [space] }];
}

/** Reads `type` and `lang`, which contain one or more values separated by commas. */
function kindFilter(query: URLSearchParams): SqlCondition[] {
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

/** The ORDER BY term on nodes `n` for each sort name, in the order of `sorts`. */
const NODE_SORTS: ReadonlyMap<string, string> = new Map([
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

/** The sort names that node lists return in `sorts`. */
export const NODE_SORT_NAMES: readonly string[] = [...NODE_SORTS.keys()];

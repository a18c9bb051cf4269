import type { LegacyRequest } from '../http/route.ts';
import { toListedTopic } from '../render/to-topic.ts';
import type { SqlCondition } from '../render/visible-nodes.ts';
import type { Sql, TopicRow } from '../store/sql.ts';
import { readPageRequest, toPagedList } from './paging.ts';
import { project, readProjection } from './projection.ts';

/** Returns one page of topics in the envelope, most used first. */
export function listTopics(sql: Sql, request: LegacyRequest, condition: SqlCondition): Record<string, unknown> {
  const page = readPageRequest(request.query, { firstPage: 1, size: 35 });
  const { text, values } = condition;
  const total =
    sql.get<{ total: number }>(`SELECT COUNT(*) AS total FROM topics t WHERE ${text}`, ...values)?.total ?? 0;
  const rows = sql.all<TopicRow>(
    `SELECT t.* FROM topics t WHERE ${text} ORDER BY t.used_count DESC, t.id LIMIT ? OFFSET ?`,
    ...values,
    page.size,
    page.offset,
  );
  const projection = readProjection(request.query);
  const items = rows.map((row) => project(toListedTopic(sql, row), projection));
  return toPagedList({ request: page, sort: '', total, items });
}

import type { Sql, TopicRow } from '../store/sql.ts';
import { authorSummary } from './to-user.ts';
import { toFormattedDate } from './text.ts';

/** Renders a topic as embedded in nodes, without the ids of its children and parents. */
export function toTopic(sql: Sql, topic: TopicRow): Record<string, unknown> {
  return {
    id: topic.id,
    creationDate: topic.created_at,
    creationDateFormatted: toFormattedDate(topic.created_at),
    name: topic.name,
    author: authorSummary(sql, topic.author_id),
    usedCount: topic.used_count,
  };
}

/** Renders a topic as shown in topic lists, with the ids of its children and parents. */
export function toListedTopic(sql: Sql, topic: TopicRow): Record<string, unknown> {
  const children = sql.all<{ id: number }>('SELECT id FROM topics WHERE parent_id = ? ORDER BY id', topic.id);
  return {
    ...toTopic(sql, topic),
    getImmediateChildren: children.map(({ id }) => id),
    getParents: topic.parent_id === null ? [] : [topic.parent_id],
  };
}

/** Returns the topics of a node in the order in which they were added. */
export function topicsOfNode(sql: Sql, nodeId: number): TopicRow[] {
  return sql.all<TopicRow>(
    'SELECT t.* FROM topics t JOIN node_topics nt ON nt.topic_id = t.id WHERE nt.node_id = ? ORDER BY nt.position',
    nodeId,
  );
}

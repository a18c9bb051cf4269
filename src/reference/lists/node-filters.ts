import type { SqlCondition } from '../render/visible-nodes.ts';

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

import type { SqlCondition } from '../render/visible-nodes.ts';
import { readList } from './projection.ts';

/**
 * Returns the SQL conditions on nodes (`n`) that a request's filter parameters specify. The specification shows no format
 * of these parameters except `spaceId`; docs/reference-server.md lists the choices (choice `filters-everywhere`).
 */
export function nodeFilters(query: URLSearchParams): SqlCondition[] {
  return [kindFilter, spaceFilter, topicsFilter, unansweredFilter, searchFilter].flatMap((read) => read(query));
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
 * match, so `*` has no effect (choice `search-substrings`).
 */
function searchFilter(query: URLSearchParams): SqlCondition[] {
  const words = (query.get('q') ?? '').split(/\s+/).map((word) => word.replaceAll('*', ''));
  return words
    .filter((word) => word !== '')
    .slice(0, 20)
    .map(wordCondition);
}

/**
 * Reads `topics`, which contains names or ids, either in repeated parameters or separated by commas. A node with any of
 * these topics matches (choice `topics-any`).
 */
function topicsFilter(query: URLSearchParams): SqlCondition[] {
  const topics = readList(query, 'topics').slice(0, 100);
  if (topics.length === 0) return [];
  const marks = topics.map(() => '?').join(', ');
  const text = `EXISTS (SELECT 1 FROM node_topics nt JOIN topics t ON t.id = nt.topic_id WHERE nt.node_id = n.id
    AND (t.name COLLATE NOCASE IN (${marks}) OR CAST(t.id AS TEXT) IN (${marks})))`;
  return [{ text, values: [...topics, ...topics] }];
}

/**
 * Reads `unanswered`. If the parameter is present and does not mean false, only questions without an answer match (choice
 * `unanswered-values`).
 */
function unansweredFilter(query: URLSearchParams): SqlCondition[] {
  const value = query.get('unanswered');
  if (value === null || ['false', '0', 'no'].includes(value.toLowerCase())) return [];
  return [{ text: "NOT EXISTS (SELECT 1 FROM nodes a WHERE a.parent_id = n.id AND a.type = 'answer')", values: [] }];
}

/** Reads `spaceId`, or the `space` parameter that older clients send instead (choice `space-alias`). */
function spaceFilter(query: URLSearchParams): SqlCondition[] {
  const space = query.get('spaceId') ?? query.get('space');
  return space === null || space === '' ? [] : [{ text: 'CAST(n.space_id AS TEXT) = ?', values: [space] }];
}

/** Reads `type` and `lang`, which contain one or more values separated by commas (choice `type-and-lang`). */
function kindFilter(query: URLSearchParams): SqlCondition[] {
  const columns = [
    ['type', 'n.type'],
    ['lang', 'n.lang'],
  ] as const;
  return columns.flatMap(([name, column]) => {
    const values = readList(query, name).slice(0, 20);
    return values.length === 0 ? [] : [{ text: `${column} IN (${values.map(() => '?').join(', ')})`, values }];
  });
}

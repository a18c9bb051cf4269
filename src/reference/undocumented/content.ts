import { requireCredential, requirePermissions } from '../http/caller.ts';
import { plainError, refuse, jsonResponse, type LegacyResponse } from '../http/legacy-response.ts';
import { findNode } from '../render/visible-nodes.ts';
import { type LegacyRequest, type LegacyRoute, readPathId, type ReferenceContext } from '../http/route.ts';
import { listNodes } from '../lists/list-nodes.ts';
import { project, type Projection, readProjection } from '../lists/projection.ts';
import { toNode } from '../render/to-node.ts';
import { addNode, insertNode } from '../store/nodes.ts';
import type { Sql } from '../store/sql.ts';
import { listTopics } from '../lists/list-people.ts';
import { listPage } from '../lists/paging.ts';
import { toFormattedDate } from '../render/text.ts';

const READ = ['View answers in the question page', 'View the question page'] as const;
const EVERY_TYPE = ['question', 'answer', 'comment', 'idea', 'ideacomment', 'kbentry'];

function one(type: 'question' | 'answer'): LegacyRoute {
  return {
    method: 'GET',
    path: `/services/v2/${type}/:nodeId.json`,
    respond: ({ caller, query, param }, { sql }) => {
      requirePermissions(caller, ...READ);
      const node = findNode(sql, readPathId(param('nodeId'), `${type} id`), caller, type);
      const projection = readProjection(query);
      return jsonResponse(project(withCounts(sql, toNode(sql, node, caller), node.id, projection), projection));
    },
  };
}

const COUNTS = [
  ['favoriteCount', 'SELECT COUNT(*) AS value FROM favorites WHERE node_id = ?'],
  ['followerCount', "SELECT COUNT(*) AS value FROM follows WHERE kind = 'node' AND target_id = ? AND active = 1"],
] as const;

/** Adds the counts that are named in `include` or `includeOnly`. By default, undocumented routes omit these counts. */
function withCounts(sql: Sql, item: object, nodeId: number, { include, includeOnly }: Projection) {
  const named = COUNTS.filter(([field]) => include.includes(field) || includeOnly.includes(field));
  const counts = named.map(([field, text]) => [field, sql.get<{ value: number }>(text, nodeId)?.value ?? 0]);
  return { ...item, ...(Object.fromEntries(counts) as Record<string, unknown>) };
}

function below(type: 'answer' | 'comment'): LegacyRoute {
  return {
    method: 'GET',
    path: `/services/v2/question/:nodeId/${type}.json`,
    respond: (request, { sql }) => {
      requirePermissions(request.caller, ...READ);
      const question = findNode(sql, readPathId(request.param('nodeId'), 'question id'), request.caller, 'question');
      const condition = { text: 'n.parent_id = ?', values: [question.id] };
      return jsonResponse(listNodes(sql, request, { types: [type], condition, defaultSort: '', toItem: toNode }));
    },
  };
}

function all(name: 'answer' | 'comment' | 'node', types: readonly string[]): LegacyRoute {
  return {
    method: 'GET',
    path: `/services/v2/${name}.json`,
    respond: (request, { sql }) => {
      requirePermissions(request.caller, ...READ);
      return jsonResponse(listNodes(sql, request, { types, defaultSort: 'active', toItem: toNode }));
    },
  };
}

function postAnswer({ caller, param, body }: LegacyRequest, { sql, clock, url }: ReferenceContext): LegacyResponse {
  requireCredential(caller);
  requirePermissions(caller, ...READ);
  const question = findNode(sql, readPathId(param('nodeId'), 'question id'), caller, 'question');
  const text = typeof body === 'object' && body !== null && 'body' in body ? body.body : undefined;
  if (typeof text !== 'string' || text.trim() === '') refuse(plainError(400, "The 'body' is missing."));
  const answer = sql.transaction(() =>
    addNode(sql, {
      type: 'answer',
      parent: question,
      authorId: caller.id,
      body: text,
      at: clock(),
      showsActivity: true,
    }),
  );
  return jsonResponse(toNode(sql, answer, caller), 201, { Location: `${url}/services/v2/answer/${answer.id}.json` });
}

/**
 * Redirects to the absolute URL of a question's newest answer. If the question has no answer, redirects to the
 * question.
 */
const latest: LegacyRoute = {
  method: 'GET',
  path: '/services/v2/question/:nodeId/latest.json',
  respond: ({ caller, param }, { sql, url }) => {
    requirePermissions(caller, ...READ);
    const question = findNode(sql, readPathId(param('nodeId'), 'question id'), caller, 'question');
    const newest =
      "SELECT id FROM nodes WHERE parent_id = ? AND type = 'answer' ORDER BY created_at DESC, id DESC LIMIT 1";
    const answer = sql.get<{ id: number }>(newest, question.id);
    const path = answer === undefined ? `question/${question.id}` : `answer/${answer.id}`;
    return { status: 302, headers: { Location: `${url}/services/v2/${path}.json` }, payload: { kind: 'empty' } };
  },
};

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

const listAllTopics: LegacyRoute = {
  method: 'GET',
  path: '/services/v2/topic.json',
  respond: (request, { sql }) => {
    requirePermissions(request.caller, 'View the questions list');
    const word = `%${(request.query.get('q') ?? '').replaceAll(/[%_*\\]/g, '')}%`;
    return jsonResponse(listTopics(sql, request, { text: 't.name LIKE ?', values: [word] }));
  },
};

const listSpaces: LegacyRoute = {
  method: 'GET',
  path: '/services/v2/space.json',
  respond: ({ caller, query }, { sql }) => {
    requirePermissions(caller, 'View the questions list');
    const spaces = { columns: '*', from: 'spaces', values: [], order: 'id', sort: '', toItem: toSpace };
    return jsonResponse(listPage(sql, query, { firstPage: 1, size: 35 }, spaces));
  },
};

/**
 * Undocumented routes for content: single nodes, the nodes below a question, lists of nodes, topics and spaces, and
 * posting an answer.
 */
export const contentRoutes: readonly LegacyRoute[] = [
  all('answer', ['answer']),
  all('comment', ['comment', 'ideacomment']),
  all('node', EVERY_TYPE),
  one('question'),
  one('answer'),
  below('answer'),
  below('comment'),
  { method: 'POST', path: '/services/v2/question/:nodeId/answer.json', respond: postAnswer },
  latest,
  listAllTopics,
  listSpaces,
];

interface QuestionDraft {
  readonly title: string;
  readonly body: string;
  readonly topics: readonly string[];
  readonly spaceId: number | null;
}

function readQuestion(sql: Sql, value: unknown): QuestionDraft {
  const { title, body, topics, spaceId } = (typeof value === 'object' && value !== null ? value : {}) as Record<
    string,
    unknown
  >;
  if (typeof title !== 'string' || title.trim() === '') refuse(plainError(400, "The 'title' is missing."));
  const names = Array.isArray(topics) ? topics : typeof topics === 'string' ? topics.split(',') : [];
  const requestedSpace = typeof spaceId === 'number' || typeof spaceId === 'string' ? String(spaceId) : null;
  const text = 'SELECT id FROM spaces WHERE ?1 IS NULL OR CAST(id AS TEXT) = ?1 ORDER BY id';
  const space = sql.get<{ id: number }>(text, requestedSpace);
  if (space === undefined) refuse(plainError(400, "The provided 'space id' is/are invalid"));
  return { title, body: typeof body === 'string' ? body : '', topics: names.map(String), spaceId: space.id };
}

/** Creates a question. Topics that do not exist are ignored. */
export const askQuestionRoute: LegacyRoute = {
  method: 'POST',
  path: '/services/v2/question.json',
  respond: ({ caller, body }, { sql, clock, url }) => {
    requireCredential(caller);
    requirePermissions(caller, 'Mark as favorite', 'View the questions list');
    const { topics, ...draft } = readQuestion(sql, body);
    const question = sql.transaction(() => {
      const node = insertNode(sql, { ...draft, type: 'question', parent: undefined, authorId: caller.id, at: clock() });
      topics.forEach((name, position) => {
        const text = 'INSERT INTO node_topics SELECT ?, ?, id FROM topics WHERE name = ?';
        sql.run(text, node.id, position, name.trim());
        sql.run('UPDATE topics SET used_count = used_count + 1 WHERE name = ?', name.trim());
      });
      return node;
    });
    const location = `${url}/services/v2/question/${question.id}.json`;
    return jsonResponse(toNode(sql, question, caller), 201, { Location: location });
  },
};

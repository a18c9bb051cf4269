import { demandCredential, demandPermissions } from '../access/demand.ts';
import { jsonAnswer, type LegacyAnswer } from '../answers/legacy-answer.ts';
import { plainError } from '../answers/legacy-errors.ts';
import { refuse } from '../answers/legacy-refusal.ts';
import type { LegacyRequest, LegacyRoute } from '../answers/legacy-route.ts';
import { listNodes } from '../lists/list-nodes.ts';
import { withExtraFields } from '../lists/extra-fields.ts';
import { project, readProjection } from '../lists/projection.ts';
import type { ReferenceContext } from '../reference-context.ts';
import { toNode } from '../render/to-node.ts';
import { addNode } from '../store/add-node.ts';
import { findNode } from '../store/find-node.ts';
import { readPathId } from '../store/path-id.ts';

const READ = ['View answers in the question page', 'View the question page'] as const;
const EVERY_TYPE = ['question', 'answer', 'comment', 'idea', 'ideacomment', 'kbentry'];

function one(type: 'question' | 'answer'): LegacyRoute {
  return {
    method: 'GET',
    path: `/services/v2/${type}/:nodeId.json`,
    answer: ({ caller, query, param }, { sql }) => {
      demandPermissions(caller, ...READ);
      const node = findNode(sql, readPathId(param('nodeId'), `${type} id`), caller, type);
      const projection = readProjection(query);
      return jsonAnswer(project(withExtraFields(sql, toNode(sql, node, caller), node.id, projection), projection));
    },
  };
}

function below(type: 'answer' | 'comment'): LegacyRoute {
  return {
    method: 'GET',
    path: `/services/v2/question/:nodeId/${type}.json`,
    answer: (request, { sql }) => {
      demandPermissions(request.caller, ...READ);
      const question = findNode(sql, readPathId(request.param('nodeId'), 'question id'), request.caller, 'question');
      const condition = { text: 'n.parent_id = ?', values: [question.id] };
      return jsonAnswer(listNodes(sql, request, { types: [type], condition, defaultSort: '', toItem: toNode }));
    },
  };
}

function all(name: 'answer' | 'comment' | 'node', types: readonly string[]): LegacyRoute {
  return {
    method: 'GET',
    path: `/services/v2/${name}.json`,
    answer: (request, { sql }) => {
      demandPermissions(request.caller, ...READ);
      return jsonAnswer(listNodes(sql, request, { types, defaultSort: 'active', toItem: toNode }));
    },
  };
}

function postAnswer({ caller, param, body }: LegacyRequest, { sql, clock, url }: ReferenceContext): LegacyAnswer {
  demandCredential(caller);
  demandPermissions(caller, ...READ);
  const question = findNode(sql, readPathId(param('nodeId'), 'question id'), caller, 'question');
  const text = typeof body === 'object' && body !== null && 'body' in body ? body.body : undefined;
  if (typeof text !== 'string' || text.trim() === '') refuse(plainError(400, "The 'body' is missing."));
  const answer = sql.transaction(() =>
    addNode(sql, { type: 'answer', parent: question, authorId: caller.id, body: text, at: clock(), moves: 'thread' }),
  );
  return jsonAnswer(toNode(sql, answer, caller), 201, { Location: `${url}/services/v2/answer/${answer.id}.json` });
}

/** A question's newest answer, or the question itself, as a redirect to an absolute address of this server. */
const latest: LegacyRoute = {
  method: 'GET',
  path: '/services/v2/question/:nodeId/latest.json',
  answer: ({ caller, param }, { sql, url }) => {
    demandPermissions(caller, ...READ);
    const question = findNode(sql, readPathId(param('nodeId'), 'question id'), caller, 'question');
    const newest =
      "SELECT id FROM nodes WHERE parent_id = ? AND type = 'answer' ORDER BY created_at DESC, id DESC LIMIT 1";
    const answer = sql.get<{ id: number }>(newest, question.id);
    const path = answer === undefined ? `question/${question.id}` : `answer/${answer.id}`;
    return { status: 302, headers: { Location: `${url}/services/v2/${path}.json` }, payload: { kind: 'empty' } };
  },
};

/** Content beyond the documented addresses: single nodes, what is below a question, lists of every type, answering. */
export const contentRoutes: readonly LegacyRoute[] = [
  all('answer', ['answer']),
  all('comment', ['comment', 'ideacomment']),
  all('node', EVERY_TYPE),
  one('question'),
  one('answer'),
  below('answer'),
  below('comment'),
  { method: 'POST', path: '/services/v2/question/:nodeId/answer.json', answer: postAnswer },
  latest,
];

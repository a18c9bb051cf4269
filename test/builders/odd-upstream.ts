import { project, readProjection } from '../../src/reference/lists/projection.ts';
import { exampleResponse } from './example-response.ts';
import { exampleOf } from './contract-examples.ts';
import type { FakeResponse, FakeRequest } from './fake-upstream.ts';

type Item = Record<string, unknown>;

/** The number of questions that the upstream has. */
const QUESTIONS = 120;

/** Fields that the specification shows without stating that they are always present. */
const SOMETIMES = [
  'slug',
  'score',
  'depth',
  'answerCount',
  'lastEditedAction',
  'primaryContainerId',
  'activeRevisionId',
];

/** The same date as formatted by servers with different locales. */
const SPELLINGS = ['04.05.2026 10:30', '2026-05-04 10:30', '4 May 2026, 10:30', '04/05/2026 10:30 a.m.'];

/** Returns a question with fields that are unusual but allowed. The same number always produces the same question. */
function oddQuestion(number: number): Item {
  const [example] = exampleOf('listQuestions').list;
  const question: Item = {
    ...example,
    id: 1000 + number,
    creationDateFormatted: SPELLINGS[number % SPELLINGS.length],
    // A newer version of the server adds fields and returns values that are not in the specification.
    nodeStates: number % 2 === 0 ? ['archived'] : [],
    badge: number,
    labels: [{ text: 'x', weight: number / 4 }],
  };
  for (const [at, name] of SOMETIMES.entries()) if ((number + at) % 3 === 0) delete question[name];
  const members = Object.entries(question);
  return Object.fromEntries(number % 2 === 0 ? members : members.toReversed());
}

/** Returns one page of questions. */
function oddPage(query: URLSearchParams): Item {
  const page = Number(query.get('page') ?? 1);
  const pageSize = Number(query.get('pageSize') ?? 15);
  // Each page repeats the last question of the previous page.
  const step = Math.max(1, pageSize - 1);
  const pageCount = Math.ceil(QUESTIONS / step);
  const first = (page - 1) * step;
  const numbers = Array.from({ length: pageSize }, (_, at) => first + at).filter((number) => number < QUESTIONS);
  const list = numbers.map(oddQuestion);
  const { name, sort, sorts } = exampleOf('listQuestions');
  return { list, totalCount: QUESTIONS, listCount: list.length, pageCount, pageSize, page, sorts, sort, name };
}

/**
 * Responds like a server whose responses are unusual but allowed. Its questions lack some fields, have additional ones,
 * and use several date formats and orders of members. Some questions are repeated on the next page. All other
 * operations return the documented examples. Clients can select the fields of every response.
 */
export function oddResponse(request: FakeRequest): FakeResponse {
  const { method, path, query } = request;
  const isOdd = method === 'GET' && path.endsWith('/services/v2/question.json');
  const response = isOdd ? { json: oddPage(query) } : exampleResponse(request);
  const projection = readProjection(query);
  const select = (item: Item) => project(item, projection);
  const { json } = response as { json: Item };
  for (const name of ['list', 'actions'])
    if (Array.isArray(json[name]))
      return { ...response, json: { ...json, [name]: (json[name] as Item[]).map(select) } };
  return { ...response, json: select(json) };
}

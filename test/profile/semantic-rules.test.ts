import { describe, expect, it } from 'vitest';
import { PROFILE } from '../../src/profile/profile.ts';
import type { ResponseFindings } from '../../src/engine/contract/compile/check-response.ts';
import { checkSemantics } from '../../src/engine/contract/check-semantics.ts';
import { DEFAULT_JSON_LIMITS } from '../../src/lib/bounded-json.ts';
import { createScanResponse } from '../../src/engine/pipeline/scan-response.ts';
import { openScanner } from '../../src/engine/scanner/open-scanner.ts';
import { exampleOf } from '../builders/contract-examples.ts';
import { exchangeWith, violationWith } from '../builders/exchange.ts';
import {
  bent,
  contract,
  document,
  example,
  found,
  judge,
  operation as operationOf,
} from '../engine/contract/sample.ts';

/** Returns the bytes of an example with the given JSON text at a path. */
const bytesOf = (json: unknown, path: string, text: string) =>
  Buffer.from(JSON.stringify(bent(json, path, 'PLACE')).replace('"PLACE"', text));

/** Returns the example of a success response with the given members in each item. */
function itemsWith(id: string, members: object): unknown {
  const body = exampleOf(id);
  const change = (item: object) => Object.assign(item, members);
  if (Array.isArray(body)) return body.map(change);
  return Array.isArray(body.list) ? { ...body, list: body.list.map(change) } : change(body);
}

interface Case {
  readonly rule: string;
  readonly operation: string;
  readonly sample: unknown;
  readonly broken: unknown;
  readonly at: string;
  readonly query?: string;
  /** A projection that omits a field that the rule needs. */
  readonly blind?: string;
}

const twoActions = (first: string, second: string) =>
  bent(bent(example('actions'), 'actions.0.actionDate', first), 'actions.1.actionDate', second);
const manyActions = (length: number) => ({
  ...example('actions'),
  actions: Array.from({ length }, () => (example('actions')['actions'] as unknown[])[1]),
});

const CASES: readonly Case[] = [
  ...['listQuestions:questions', 'listIdeas:ideas', 'listGroupUsers:groupUsers', 'listTopicFollowers:followers']
    .concat('listArticles:articles', 'listNodeFollowers:followers', 'listExpertise:expertise')
    .concat('listAnswerComments:answerComments')
    .map((pair) => {
      const [operation = '', sample = ''] = pair.split(':');
      const broken = bent(example(sample), 'listCount', 7);
      return { rule: 'list-count', operation, sample: example(sample), broken, at: '/listCount' };
    }),
  {
    rule: 'list-count',
    operation: 'listNodeFollowers',
    query: 'details=true',
    sample: example('followRelations'),
    broken: bent(example('followRelations'), 'listCount', 7),
    at: '/listCount',
  },
  ...['listQuestions:questions', 'listIdeas:ideas', 'listGroupUsers:groupUsers', 'listTopicFollowers:followers']
    .concat('listArticles:articles', 'listNodeFollowers:followers', 'listExpertise:expertise')
    .concat('listAnswerComments:answerComments')
    .map((pair) => {
      const [operation = '', sample = ''] = pair.split(':');
      const broken = bent(example(sample), 'page', 2);
      return { rule: 'page-within-count', operation, sample: example(sample), broken, at: '/page' };
    }),
  ...['listQuestions:questions', 'listIdeas:ideas', 'listGroupUsers:groupUsers', 'listTopicFollowers:followers']
    .concat('listArticles:articles', 'listNodeFollowers:followers', 'listExpertise:expertise')
    .concat('listAnswerComments:answerComments')
    .flatMap((pair) => {
      const [operation = '', sample = ''] = pair.split(':');
      const one = { rule: 'envelope-counts', operation, sample: example(sample) };
      return [
        { ...one, broken: bent(example(sample), 'pageSize', 0), at: '/listCount' },
        { ...one, broken: bent(example(sample), 'totalCount', 0), at: '/totalCount' },
      ];
    }),
  {
    rule: 'envelope-counts',
    operation: 'listNodeFollowers',
    query: 'details=true',
    sample: example('followRelations'),
    broken: bent(example('followRelations'), 'totalCount', 0),
    at: '/totalCount',
  },
  // A projection does not affect the envelope.
  {
    rule: 'envelope-counts',
    operation: 'listQuestions',
    query: 'exclude=slug',
    sample: example('questions'),
    broken: bent(example('questions'), 'totalCount', 0),
    at: '/totalCount',
  },
  // Seconds, microseconds and a negative number.
  ...[1_549_465_260, 1_549_465_260_000_000, -1, 788_918_399_999, 4_102_444_800_001].map((instant) => ({
    rule: 'more-results-range',
    operation: 'listActions',
    sample: example('actions'),
    broken: bent(example('actions'), 'moreResults', instant),
    at: '/moreResults',
  })),
  {
    rule: 'recipients-visibility',
    operation: 'getComment',
    sample: example('privateComment'),
    broken: bent(example('privateComment'), 'visibility', 'moderators'),
    at: '/recipients',
    blind: 'exclude=visibility',
  },
  {
    rule: 'recipients-visibility',
    operation: 'listNodeComments',
    sample: example('nodeComments'),
    broken: bent(example('nodeComments'), '1.visibility', undefined),
    at: '/1/recipients',
  },
  {
    rule: 'recipients-visibility',
    operation: 'listAnswerComments',
    sample: example('answerComments'),
    broken: bent(example('answerComments'), 'list.1.visibility', undefined),
    at: '/list/1/recipients',
  },
  {
    rule: 'executions-when-finished',
    operation: 'getGdprJob',
    sample: example('finishedJob'),
    broken: bent(example('finishedJob'), 'executions', undefined),
    at: '/executions',
  },
  {
    rule: 'executions-when-finished',
    operation: 'getGdprJob',
    sample: example('pendingJob'),
    broken: bent(example('pendingJob'), 'executions', []),
    at: '/executions',
  },
  {
    rule: 'canceled-fields',
    operation: 'listActions',
    sample: example('actions'),
    broken: bent(example('actions'), 'actions.1.canceledByUser', undefined),
    at: '/actions/1/canceledByUser',
    blind: 'exclude=canceledByUser',
  },
  {
    rule: 'canceled-fields',
    operation: 'unmarkFavorite',
    sample: example('unfavorite'),
    broken: bent(example('unfavorite'), 'result.favoriteAction.canceledDate', undefined),
    at: '/result/favoriteAction/canceledDate',
  },
  {
    rule: 'canceled-fields',
    operation: 'cancelWiki',
    sample: example('unwikify'),
    broken: bent(example('unwikify'), 'result.wikifyAction.canceledByUser', undefined),
    at: '/result/wikifyAction/canceledByUser',
  },
  {
    rule: 'space-filter',
    operation: 'listQuestions',
    query: 'spaceId=5',
    sample: example('questions'),
    broken: bent(example('questions'), 'list.0.containerIds', [6]),
    at: '/list/0/containerIds',
    blind: 'spaceId=5&exclude=containerIds',
  },
  {
    rule: 'unfavorite-result',
    operation: 'unmarkFavorite',
    sample: example('unfavorite'),
    broken: bent(example('unfavorite'), 'result.favoriteAction.verb', 'wikified'),
    at: '/result/favoriteAction/verb',
  },
  {
    rule: 'unfavorite-result',
    operation: 'unmarkFavorite',
    sample: example('unfavorite'),
    broken: bent(example('unfavorite'), 'result.favoriteAction.canceled', false),
    at: '/result/favoriteAction/canceled',
  },
  {
    rule: 'unfavorite-result',
    operation: 'unmarkFavorite',
    sample: example('unfavorite'),
    broken: bent(example('unfavorite'), 'result.favoriteAction.node.id', 119),
    at: '/result/favoriteAction/node/id',
  },
  {
    rule: 'unwikify-result',
    operation: 'cancelWiki',
    sample: example('unwikify'),
    broken: bent(example('unwikify'), 'result.wikifyAction.verb', 'favorited'),
    at: '/result/wikifyAction/verb',
  },
  {
    rule: 'unwikify-result',
    operation: 'cancelWiki',
    sample: example('unwikify'),
    broken: bent(example('unwikify'), 'result.wikifyAction.canceled', false),
    at: '/result/wikifyAction/canceled',
  },
  {
    rule: 'unwikify-result',
    operation: 'cancelWiki',
    sample: example('unwikify'),
    broken: bent(example('unwikify'), 'result.wikifyAction.node.id', 119),
    at: '/result/wikifyAction/node/id',
  },
  {
    rule: 'action-page-size',
    operation: 'listActions',
    sample: manyActions(20),
    broken: manyActions(21),
    at: '/actions',
    blind: 'pageSize=50',
  },
  {
    rule: 'newest-first',
    operation: 'listActions',
    sample: twoActions('2019-02-06 15:01:00.0', '2019-02-06 15:00:59.9'),
    broken: twoActions('2019-02-06 15:01:00.0', '2019-02-06 15:01:00.1'),
    at: '/actions/1/actionDate',
    blind: 'exclude=actionDate',
  },
  {
    rule: 'newest-first',
    operation: 'listActions',
    sample: twoActions('Fri Feb 01 00:00:00 UTC 2019', 'Thu Jan 31 23:59:59 UTC 2019'),
    broken: twoActions('Thu Jan 31 23:59:59 UTC 2019', 'Fri Feb 01 00:00:00 UTC 2019'),
    at: '/actions/1/actionDate',
    blind: 'sort=oldest',
  },
  {
    rule: 'only-kbentry',
    operation: 'listArticles',
    sample: example('articles'),
    broken: bent(example('articles'), 'list.0.type', 'question'),
    at: '/list/0/type',
    blind: 'exclude=type',
  },
  {
    rule: 'only-ideas',
    operation: 'listIdeas',
    sample: example('ideas'),
    broken: bent(example('ideas'), 'list.0.type', 'question'),
    at: '/list/0/type',
    blind: 'exclude=type',
  },
  {
    rule: 'only-questions',
    operation: 'listQuestions',
    sample: example('questions'),
    broken: bent(example('questions'), 'list.0.type', 'answer'),
    at: '/list/0/type',
    blind: 'exclude=type',
  },
  {
    rule: 'only-comments',
    operation: 'getComment',
    sample: bent(example('comment'), 'type', 'ideacomment'),
    broken: bent(example('comment'), 'type', 'answer'),
    at: '/type',
    blind: 'exclude=type',
  },
  {
    rule: 'only-comments',
    operation: 'listNodeComments',
    sample: example('nodeComments'),
    broken: bent(example('nodeComments'), '1.type', 'question'),
    at: '/1/type',
  },
  {
    rule: 'only-comments',
    operation: 'listAnswerComments',
    sample: example('answerComments'),
    broken: bent(example('answerComments'), 'list.0.type', 'kbentry'),
    at: '/list/0/type',
  },
];

/**
 * Scans a response as the gateway does, and returns the findings for the excerpt, which contains only the values that
 * the rule's `excerpt` points to or that later steps read. The operation has no other rules, because their excerpts
 * could also contain the values. Returns undefined if the scanner cannot produce an excerpt.
 */
function judgeExcerpt({ rule, operation: id, query }: Case, json: unknown): ResponseFindings | undefined {
  let findings: ResponseFindings | undefined;
  const scan = createScanResponse(
    { ...contract, checkResponse: (...parts) => (findings = contract.checkResponse(...parts)) },
    openScanner(DEFAULT_JSON_LIMITS),
    PROFILE.items,
  );
  const operation = { ...operationOf(id), semanticRules: [rule] };
  const path = operation.parameters.filter(({ location }) => location === 'path');
  const rawParameters = Object.fromEntries(path.map(({ name }) => [name, '118']));
  const { values } = contract.decodeParameters(operation, { rawParameters }, query);
  scan(operation, values, { status: 200, mediaType: 'application/json', bytes: Buffer.from(JSON.stringify(json)) });
  return findings;
}

describe.each(CASES)('the rule $rule on $operation (docs/rules.md §7)', (one) => {
  const { rule, operation, sample, broken, at, query, blind } = one;
  const more = query === undefined ? {} : { query };

  it('accepts a sample that follows it', () => {
    expect(judge(operation, sample, more).verdict).toBe('valid');
  });

  it(`reports ${at}`, () => {
    const { violations, reported } = judge(operation, broken, more);
    const category = contract.semanticRules.get(rule)?.isAdvisory === true ? 'advisory' : 'semantic';
    expect([...violations, ...reported]).toMatchObject([{ category, location: 'body', keyword: rule, at }]);
    expect(violations).toHaveLength(category === 'semantic' ? 1 : 0);
  });

  // If the scanner finds nothing wrong, the gateway never parses the response, so a rule whose `excerpt` lacks a
  // value would never report anything.
  it('has the same findings for the excerpt of the scanner', () => {
    expect(judgeExcerpt(one, sample)?.violations).toEqual([]);
    expect(judgeExcerpt(one, broken)).toEqual(judge(operation, broken, more));
  });

  if (blind !== undefined)
    it(`is skipped for ${blind}`, () => {
      expect(found(judge(operation, broken, { query: blind }))).not.toContain(`${rule} ${at}`);
    });
});

describe('semantic rules', () => {
  it('are all in use, and all are tested here', () => {
    const used = new Set(contract.operations.flatMap((operation) => operation.semanticRules));
    expect([...contract.semanticRules.keys()].filter((name) => !used.has(name))).toEqual([]);
    expect([...contract.semanticRules.keys()].filter((name) => !CASES.some(({ rule }) => rule === name))).toEqual([]);
  });

  it.each([null, 5, 'text', [], {}, [null], { list: {} }, { list: [null, 5] }, { actions: 'x' }, { result: [] }])(
    'have the verdict %j',
    (json) => {
      for (const { id } of contract.operations) expect(() => judge(id, json)).not.toThrow();
    },
  );

  it('treat an empty list of recipients as absent', () => {
    const open = bent(bent(example('privateComment'), 'visibility', undefined), 'recipients', []);
    expect(judge('getComment', open).verdict).toBe('valid');
  });

  it('do not compare dates of two forms, because one has no time zone', () => {
    const mixed = twoActions('2019-02-06 15:01:00.0', 'Thu Feb 07 15:05:50 UTC 2019');
    expect(judge('listActions', mixed).verdict).toBe('valid');
  });

  it('are skipped if includeOnly leaves out a field that they read', () => {
    const page = { ...example('articles'), list: [{ id: 1 }] };
    expect(judge('listArticles', page, { query: 'includeOnly=id' }).verdict).toBe('valid');
    const typed = { ...example('articles'), list: [{ type: 'question' }] };
    expect(found(judge('listArticles', typed, { query: 'includeOnly=type' }))).toEqual(['only-kbentry /list/0/type']);
  });

  it.each([
    ['a requested page, which violates the page bounds', 'listQuestions', 'page=4', { page: 4, pageCount: 2 }],
    ['an empty list', 'listQuestions', '', { page: 3, pageCount: 0, totalCount: 0, list: [], listCount: 0 }],
    ['the first page', 'listQuestions', 'page=2', { page: 1, pageCount: 0 }],
    ['the second of two pages that are counted from 0', 'listTopicFollowers', '', { page: 1, pageCount: 2 }],
  ])('do not report %s as past the page count', (_, id, query, more) => {
    const sample = id === 'listQuestions' ? 'questions' : 'followers';
    expect(judge(id, { ...example(sample), ...more }, { query }).verdict).toBe('valid');
  });

  it('report a page past the page count that the client did not request', () => {
    const page = { ...example('questions'), page: 4, pageCount: 2 };
    expect(found(judge('listQuestions', page, { query: 'page=2' }))).toEqual(['page-within-count /page']);
  });

  it.each([
    ['an empty page', { list: [], listCount: 0, totalCount: 0, pageCount: 0 }],
    ['an empty page past the last one', { list: [], listCount: 0, totalCount: 40, page: 9, pageCount: 3 }],
    ['a last page that is not full', { totalCount: 31, page: 3, pageCount: 3 }],
    ['a full page of the whole list', { pageSize: 1, totalCount: 1, pageCount: 1 }],
    ['another page size than the requested one', { pageSize: 50, totalCount: 60 }],
    // The schema reports these numbers, and `list-count` reports a wrong `listCount`.
    ['a negative page size', { pageSize: -1 }, 'x-expected-minimum /pageSize'],
    ['a negative total', { totalCount: -1 }, 'x-expected-minimum /totalCount'],
    ['a wrong item count', { listCount: 99 }, 'list-count /listCount'],
  ])('do not compare the counts of %s', (_, more, ...expected: string[]) => {
    const { violations, reported } = judge('listQuestions', { ...example('questions'), ...more }, { query: 'page=9' });
    expect([...violations, ...reported].map(({ keyword, at }) => `${keyword} ${at}`)).toEqual(expected);
  });

  it('report each of the two counts that a page exceeds', () => {
    const page = { ...example('questions'), pageSize: 0, totalCount: 0 };
    expect(judge('listQuestions', page).reported.map(({ at }) => at)).toEqual(['/listCount', '/totalCount']);
  });

  it('accept 0 for moreResults, and the range that the contract expects of other instants', () => {
    const { 'x-expected-minimum': from, 'x-expected-maximum': to } =
      document.components.schemas['EpochMilliseconds'] ?? {};
    for (const instant of [0, from, to])
      expect(judge('listActions', bent(example('actions'), 'moreResults', instant)).reported).toEqual([]);
    for (const instant of [Number(from) - 1, Number(to) + 1])
      expect(judge('listActions', bent(example('actions'), 'moreResults', instant)).reported).toHaveLength(1);
  });

  const results = [
    ['unmarkFavorite', 'unfavorite', 'favoriteAction'],
    ['cancelWiki', 'unwikify', 'wikifyAction'],
  ] as const;
  it.each(results)('compare a node above 2^53 digit by digit in %s', (id, sample, action) => {
    const received = bytesOf(example(sample), `result.${action}.node.id`, '9007199254740993');
    const verdict = (ids: string) => judge(id, JSON.parse(received.toString()), { ids, bytes: received }).verdict;
    expect(verdict('9007199254740993')).toBe('valid');
    expect(verdict('09007199254740993')).toBe('valid');
    // Both ids are the same number after rounding.
    expect(verdict('9007199254740992')).toBe('violations');
    expect(verdict('5')).toBe('violations');
    expect(judge(id, example(sample), { ids: 'abc' }).verdict).toBe('valid');
  });

  it('compare a node above 2^53 digit by digit after a scan', () => {
    const scan = createScanResponse(contract, openScanner(DEFAULT_JSON_LIMITS), PROFILE.items);
    const one = operationOf('unmarkFavorite');
    const bytes = bytesOf(example('unfavorite'), 'result.favoriteAction.node.id', '9007199254740993');
    const scanned = (nodeId: string) => {
      const { values } = contract.decodeParameters(one, { rawParameters: { nodeId } }, undefined);
      return scan(one, values, { status: 200, mediaType: 'application/json', bytes });
    };
    expect(scanned('9007199254740993')).toMatchObject({ findings: { verdict: 'valid' } });
    expect(scanned('9007199254740992')).toBe('closer');
  });

  it('compare a space above 2^53 digit by digit', () => {
    const bytes = bytesOf(example('questions'), 'list.0.containerIds', '[9007199254740993, 5]');
    const verdict = (spaceId: string) =>
      judge('listQuestions', JSON.parse(bytes.toString()), { query: `spaceId=${spaceId}`, bytes }).verdict;
    expect(verdict('9007199254740993')).toBe('valid');
    expect(verdict('5')).toBe('valid');
    expect(verdict('9007199254740992')).toBe('violations');
  });

  it.each(['listQuestions', 'listIdeas', 'getComment', 'listArticles', 'listNodeComments', 'listAnswerComments'])(
    'only report a node type that the specification does not name in %s',
    (id) => {
      const page = itemsWith(id, { type: 'poll' });
      const { verdict, reported } = judge(id, page);
      expect(verdict).toBe('valid');
      expect(reported.map(({ category, keyword }) => `${category} ${keyword}`)).toEqual(['advisory x-expected-enum']);
    },
  );

  it.each(['listQuestions', 'listIdeas'])('accept every node type in %s if the client selected types', (id) => {
    const page = itemsWith(id, { type: 'answer' });
    expect(judge(id, page, { query: 'type=answer' })).toEqual({ verdict: 'valid', violations: [], reported: [] });
    expect(judge(id, page).verdict).toBe('violations');
  });
});

// The attack: a very long list in which every item violates a rule. Each rule violation used to be compared with every
// schema violation.
it('the findings of a rule that every item of a long list violates are limited', () => {
  let compared = 0;
  const broken = Object.assign([violationWith({ at: '/other' })], {
    some: () => {
      compared += 1;
      return false;
    },
  });
  const list = Array.from({ length: 20_000 }, () => ({ type: 'question' }));
  const articles = { ...operationOf('listArticles'), semanticRules: ['only-kbentry'] };
  expect(
    checkSemantics(contract.semanticRules, articles, exchangeWith().values(), { json: { list } }, broken),
  ).toHaveLength(500);
  expect(compared).toBe(500);
});

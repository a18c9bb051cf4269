import { describe, expect, it } from 'vitest';
import { fieldsBeyond } from '../../../../src/engine/contract/compile/check-response.ts';
import { CONTRACT_DEFAULTS } from '../../../../src/portico-settings.ts';
import { loadContract } from '../../../../src/engine/contract/load-contract.ts';
import { bent, contract, example, found, judge, operation } from '../sample.ts';

describe('checking a response', () => {
  const BR = "You don't have permission to do this action.<br>Please login as another user";

  describe('with any status and content type (docs/rules.md §7)', () => {
    it.each([204, 206, 301, 302, 304])('reports the undocumented status %i', (status) => {
      const judgement = judge('listQuestions', example('questions'), { status });
      expect(judgement.violations).toMatchObject([{ category: 'protocol', location: 'status', keyword: 'status' }]);
    });

    it.each([400, 401, 403, 404, 409, 429, 500, 503])('accepts the two error shapes with status %i', (status) => {
      expect(judge('listQuestions', { error: 'no' }, { status }).verdict).toBe('valid');
      expect(judge('listQuestions', { errors: { message: BR } }, { status }).verdict).toBe('valid');
      expect(found(judge('listQuestions', { message: 'no' }, { status }))).toEqual(['anyOf ']);
      expect(found(judge('listQuestions', { error: { message: 'no' } }, { status }))).toEqual(['type /error']);
    });

    it('accepts documented errors only in their documented shape', () => {
      expect(judge('getGdprJob', { error: 'not found' }, { status: 404 }).verdict).toBe('valid');
      expect(found(judge('getGdprJob', { errors: { message: 'x' } }, { status: 404 }))).toEqual(['shape ']);
      expect(judge('copyAttachments', { errors: { message: 'x' } }, { status: 403 }).verdict).toBe('violations');
    });

    it('accepts no response without a body except a challenge', () => {
      const empty = { mediaType: undefined, isEmpty: true };
      expect(judge('listActions', undefined, { ...empty, status: 401 }).verdict).toBe('valid');
      expect(judge('listGroupUsers', undefined, { ...empty, status: 401 }).verdict).toBe('valid');
      for (const status of [200, 400, 404, 500])
        expect(found(judge('listActions', undefined, { ...empty, status }))).toEqual(['content-type content-type']);
      expect(found(judge('listActions', undefined, { status: 401, mediaType: undefined }))).toEqual([
        'content-type content-type',
      ]);
    });

    it('accepts any body of a refused visibility, because its shape is not documented', () => {
      expect(judge('createComment', { whatever: 1 }, { status: 400 }).verdict).toBe('valid');
    });

    it('reports an HTML page as a protocol violation with any status', () => {
      for (const status of [200, 401, 500]) {
        const { violations } = judge('listQuestions', undefined, { status, mediaType: 'text/html;charset=utf-8' });
        expect(violations).toMatchObject([{ category: 'protocol', location: 'header', keyword: 'html' }]);
      }
    });

    it.each(['text/plain', 'application/problem+json', 'application/jsonx', '', undefined])(
      'reports the content type %s',
      (mediaType) => {
        const judgement = judge('listQuestions', example('questions'), { mediaType });
        expect(found(judgement)).toEqual(['content-type content-type']);
      },
    );

    it.each(['application/json', 'application/json;charset=UTF-8', 'Application/JSON ; charset=utf-8'])(
      'accepts the content type %s',
      (mediaType) => {
        expect(judge('listQuestions', example('questions'), { mediaType }).verdict).toBe('valid');
      },
    );

    it('reports a body that is not JSON', () => {
      expect(judge('listQuestions', undefined).violations).toMatchObject([{ category: 'protocol', keyword: 'json' }]);
    });

    it('reports an error inside a success', () => {
      expect(judge('listQuestions', { error: 'oops' }).verdict).toBe('violations');
    });

    it('reports no error inside a valid success', () => {
      expect(judge('getComment', { error: 'oops' }, { query: 'includeOnly=error' }).verdict).toBe('valid');
    });
  });

  const projected = (list: unknown[]) => ({ ...example('questions'), list, listCount: list.length });

  describe('with a projection', () => {
    it('requires nothing inside items but still the envelope', () => {
      expect(judge('listQuestions', projected([{ id: 1 }]), { query: 'includeOnly=id' }).verdict).toBe('valid');
      expect(judge('listQuestions', projected([{ id: 1 }])).verdict).toBe('violations');
      const noCount = bent(projected([{ id: 1 }]), 'pageCount', undefined);
      expect(found(judge('listQuestions', noCount, { query: 'includeOnly=id' }))).toEqual(['required /pageCount']);
    });

    it('still checks the types of present fields', () => {
      expect(found(judge('listQuestions', projected([{ id: '1' }]), { query: 'exclude=body' }))).toEqual([
        'type /list/0/id',
      ]);
      const author = [{ author: { id: 'x' } }];
      expect(found(judge('listQuestions', projected(author), { query: 'exclude=author.username' }))).toEqual([
        'type /list/0/author/id',
      ]);
    });

    it('reports fields that includeOnly did not request', () => {
      const judgement = judge('listQuestions', projected([{ id: 1 }, { id: 2, title: 'x' }]), {
        query: 'includeOnly=id',
      });
      expect(judgement.violations).toMatchObject([
        { category: 'not-allowed', keyword: 'includeOnly', at: '/list/1/title' },
      ]);
    });

    it('supports dotted paths, including into lists', () => {
      const item = { author: { username: 'pz03' }, topics: [{ name: 'build' }] };
      const query = 'includeOnly=author.username,topics.name';
      expect(judge('listQuestions', projected([item]), { query }).verdict).toBe('valid');
      const more = { ...item, author: { username: 'pz03', id: 18 }, topics: [{ name: 'build', usedCount: 1 }] };
      expect(judge('listQuestions', projected([more]), { query }).violations).toMatchObject([
        {
          keyword: 'includeOnly',
          at: '/list/0',
          message: expect.stringContaining('author/id, topics/0/usedCount') as unknown,
        },
      ]);
    });

    it.each([
      ['listQuestions', 'questions', '/list/0', '/list/0 has fields that were not requested, such as type, '],
      ['getComment', 'comment', '', 'the body has fields that were not requested, such as type, '],
      ['listActions', 'actions', '/actions/0', '/actions/0 has fields that were not requested, such as ip, '],
    ])('reports one violation if the server ignores the projection: %s', (id, sample, at, message) => {
      const { violations } = judge(id, example(sample), { query: 'includeOnly=id' });
      expect(violations).toMatchObject([
        { category: 'not-allowed', keyword: 'includeOnly', at, message: expect.stringContaining(message) as unknown },
      ]);
    });

    it('accepts all of a field that is requested both completely and in part', () => {
      const query = 'includeOnly=author,author.username';
      expect(judge('listQuestions', projected([{ author: { username: 'a', id: 1 } }]), { query }).verdict).toBe(
        'valid',
      );
    });

    it('checks the fields of actions and of single comments', () => {
      const actions = { actions: [{ id: 1, verb: 'x' }], moreResults: 1_549_465_260_000 };
      expect(found(judge('listActions', actions, { query: 'includeOnly=id' }))).toEqual([
        'includeOnly /actions/0/verb',
      ]);
      expect(found(judge('getComment', { id: 1, body: 'x' }, { query: 'includeOnly=id' }))).toEqual([
        'includeOnly /body',
      ]);
    });

    it('does not apply the projection to errors', () => {
      expect(judge('listQuestions', { error: 'no' }, { query: 'includeOnly=id', status: 403 }).verdict).toBe('valid');
    });
  });

  describe('with wrap and v1', () => {
    it.each([
      ['wrap=true', 'wrap'],
      ['v1=true', 'v1'],
      ['v1', 'v1'],
    ])('skips a response changed by %s', (query, reason) => {
      expect(judge('listQuestions', { result: [] }, { query })).toEqual({
        verdict: 'skipped',
        reason,
        violations: [],
        reported: [],
      });
    });

    it('returns valid if the ordinary schema accepts the response', () => {
      expect(judge('listQuestions', example('questions'), { query: 'wrap=true' }).verdict).toBe('valid');
    });

    it('still checks status, content type and well-formed JSON', () => {
      expect(judge('listQuestions', {}, { query: 'wrap=1', status: 302 }).verdict).toBe('violations');
      expect(judge('listQuestions', undefined, { query: 'wrap=1' }).verdict).toBe('violations');
      expect(judge('listQuestions', {}, { query: 'v1=1', mediaType: 'text/html' }).verdict).toBe('violations');
    });
  });

  describe('with many violations', () => {
    it('returns no more violations than the maximum', () => {
      const bad = Object.fromEntries(Object.keys(example('comment')).map((name) => [name, { other: 1 }]));
      const list = Array.from({ length: 1000 }, () => bad);
      const judgement = judge('listAnswerComments', { ...example('answerComments'), list, listCount: list.length });
      expect(judgement.violations).toHaveLength(20);
    });

    it('reports an error of every item once, so that an error of one item is reported too', () => {
      const page = example('questions');
      const [item] = page['list'] as Record<string, unknown>[];
      const list = Array.from({ length: 100 }, () => ({ ...item, score: 'high', title: 5 }));
      list[24] = bent(list[24] ?? {}, 'type', undefined) as (typeof list)[number];
      const judgement = judge('listQuestions', { ...page, list, listCount: 99 });
      expect(found(judgement)).toEqual([
        'type /list/0/score',
        'type /list/0/title',
        'required /list/24/type',
        'list-count /listCount',
      ]);
    });

    const questionsWith = (...items: readonly object[]) => ({
      ...example('questions'),
      list: items,
      listCount: items.length,
    });
    const author = { id: 1, username: 'x', reputation: 3 };

    it.each([
      ['includeOnly=id&include=slug', { id: 1, slug: 'x' }],
      ['includeOnly=id&include=author.username', { id: 1, author: { username: 'x' } }],
      ['includeOnly=list.id,list.author.username', { id: 1, author: { username: 'x' } }],
      ['includeOnly=list', { id: 1, author, extra: 1 }],
      ['includeOnly=topics.name', { topics: [{ name: 'build' }] }],
    ])('finds no field that was not requested with %s', (query, item) => {
      expect(judge('listQuestions', questionsWith(item), { query }).violations).toEqual([]);
    });

    it.each([
      ['includeOnly=id&include=author.username', { id: 1, author }, '/list/0'],
      ['includeOnly=list.id', { id: 1, slug: 'x' }, '/list/0/slug'],
      ['includeOnly=id', { id: 1, extra: 1 }, '/list/0/extra'],
    ])('finds the field that was not requested with %s', (query, item, at) => {
      expect(judge('listQuestions', questionsWith(item), { query })).toMatchObject({
        verdict: 'violations',
        violations: [{ category: 'not-allowed', keyword: 'includeOnly', at }],
        reported: [],
      });
    });

    it('skips a rule whose field is excluded by its path in the list', () => {
      const actions = bent(example('actions'), 'actions.1.canceledByUser', undefined);
      expect(judge('listActions', actions, { query: 'exclude=actions.canceledByUser' }).verdict).toBe('valid');
      expect(judge('listActions', actions).verdict).toBe('violations');
    });

    it('takes a field with the name of the whole body for a field', () => {
      const judged = judge('getComment', { id: 1, body: 'x' }, { query: 'includeOnly=body' });
      expect(found(judged)).toEqual(['includeOnly /id']);
    });

    it('only reports an id that does not fit into 64 bits, and no smaller one', () => {
      const { verdict, reported } = judge('getComment', bent(example('comment'), 'id', 1e20));
      const unmet = { category: 'advisory', keyword: 'x-expected-maximum', at: '/id', found: 'integer' };
      expect(verdict).toBe('valid');
      expect(reported).toMatchObject([{ ...unmet, message: '/id is expected to be within 64 bits' }]);
      const largest = Number(9_223_372_036_854_775_807n);
      expect(judge('getComment', bent(example('comment'), 'id', largest)).reported).toEqual([]);
    });

    it('applies no semantic rule to items that violate the schema, reported or not', () => {
      const page = example('articles');
      const [item] = page['list'] as object[];
      const list = Array.from({ length: 3 }, () => ({ ...item, type: 7 }));
      expect(found(judge('listArticles', { ...page, list, listCount: 3 }))).toEqual(['type /list/0/type']);
    });

    it('applies one maximum to schema and semantic violations together', () => {
      const strict = loadContract({ ...CONTRACT_DEFAULTS, maxCollected: 1 });
      const one = operation('listQuestions');
      const { values } = strict.decodeParameters(one, { rawParameters: {} }, undefined);
      const json = bent(bent(example('questions'), 'listCount', 9), 'sorts', undefined);
      const response = { status: 200, mediaType: 'application/json', json };
      expect(found(strict.checkResponse(one, values, response))).toEqual(['required /sorts']);
      expect(found(judge('listQuestions', json))).toEqual(['required /sorts', 'list-count /listCount']);
    });

    it('reports one invalid item after many valid ones', () => {
      const page = example('questions');
      const [item] = page['list'] as object[];
      const list = Array.from({ length: 300 }, (_, index) => (index === 299 ? { ...item, id: 'x' } : item));
      expect(found(judge('listQuestions', { ...page, list, listCount: 300 }))).toEqual(['type /list/299/id']);
    });

    it('returns the place in the schema, across references', () => {
      const { violations } = judge('listQuestions', bent(example('questions'), 'list.0.author.reputation', 'high'));
      expect(violations).toMatchObject([
        { schemaPath: 'resources/author.schema.json#/properties/reputation/type', at: '/list/0/author/reputation' },
      ]);
    });

    it('never repeats a value of the response', () => {
      const secret = 'secret-9f3';
      const page = bent(bent(example('questions'), 'list.0.id', secret), 'list.0.creationDateFormatted', secret);
      const { violations, reported } = judge('listQuestions', page);
      expect([...violations, ...reported]).toHaveLength(2);
      expect(JSON.stringify([violations, reported])).not.toContain(secret);
    });

    it('returns violations that the next check does not change', () => {
      const first = judge('uploadGdprFile', {}, { status: 201 });
      const before = structuredClone(first);
      judge('uploadGdprFile', { fileId: 1 }, { status: 201 });
      judge('uploadGdprFile', [], { status: 201 });
      expect(first).toEqual(before);
    });

    it('does not change the response', () => {
      const page = bent(example('questions'), 'list.0.id', 'x');
      const before = structuredClone(page);
      judge('listQuestions', page, { query: 'includeOnly=id' });
      expect(page).toEqual(before);
    });
  });

  describe('checking a request body', () => {
    it('requires the content of the upload', () => {
      const upload = operation('uploadGdprFile');
      expect(contract.checkRequest(upload, { content: 'username\nbob\n' })).toEqual([]);
      expect(contract.checkRequest(upload, {})).toMatchObject([
        { check: 'requests', direction: 'request', location: 'body', category: 'missing', at: '/content' },
      ]);
      expect(contract.checkRequest(upload, { content: 5 })).toMatchObject([{ category: 'type', at: '/content' }]);
      expect(contract.checkRequest(upload, [])).toHaveLength(1);
    });

    it('requires a body for new comments, and known recipients', () => {
      expect(contract.checkRequest(operation('createComment'), { visibility: 'recipients' })).toMatchObject([
        { at: '/body' },
      ]);
      expect(contract.checkRequest(operation('updateComment'), { visibility: 'recipients' })).toEqual([]);
      const stranger = { body: 'x', recipients: [{ id: 1, type: 'role' }] };
      expect(contract.checkRequest(operation('createComment'), stranger)).toMatchObject([{ category: 'enum' }]);
    });

    it('returns no more violations than the maximum', () => {
      const recipients = Array.from({ length: 25 }, () => ({}));
      expect(contract.checkRequest(operation('updateComment'), { recipients })).toHaveLength(20);
    });

    it('accepts anything for operations without a body', () => {
      expect(contract.checkRequest(operation('cancelWiki'), { anything: 1 })).toEqual([]);
    });
  });
});

describe('the fields beyond a projection', () => {
  const beyond = (includeOnly: readonly string[], item: unknown, max = 100) =>
    fieldsBeyond(includeOnly, 'list', { list: [item] }, max);

  it('are the fields that no path names, at each level', () => {
    const item = { id: 1, title: 'x', author: { id: 2, name: 'y' }, topics: [{ id: 3, name: 'z' }] };
    expect(beyond(['id', 'author.id', 'topics.id'], item)).toEqual([
      '/list/0/title',
      '/list/0/author/name',
      '/list/0/topics/0/name',
    ]);
    expect(beyond(['id', 'title', 'author', 'author.id', 'topics.id', 'topics'], item)).toEqual([]);
  });

  /*
   * The attack: `includeOnly=a.a.a…`, with as many segments as fit into a target. Each segment caused a recursive call
   * that copied the rest of the path, until the stack overflowed. The upstream's response was lost, and the client
   * received a 500.
   */
  it('are found for a path of any number of segments', () => {
    for (const segments of [2500, 1_000_000]) {
      const path = Array.from({ length: segments }, () => 'a').join('.');
      expect(beyond([path, `${path}.b`, 'a'.repeat(2500)], { a: { a: { b: 1 } }, b: 1 })).toEqual([
        '/list/0/a/a/b',
        '/list/0/b',
      ]);
    }
  });

  it('are searched only up to the maximum number of reports and of examined members', () => {
    const item = Object.fromEntries(
      Array.from({ length: 1000 }, (_, at) => [`f${String.fromCodePoint(97 + (at % 26))}${at}`, 1]),
    );
    expect(beyond(['id'], item, 7)).toHaveLength(7);
    let read = 0;
    const endless = new Proxy(Object.fromEntries(Array.from({ length: 100_000 }, (_, at) => [`key ${at}`, 1])), {
      get: (target, name) => {
        read += 1;
        return Reflect.get(target, name) as unknown;
      },
    });
    expect(beyond(['id'], endless)).toEqual(['/list/0/?']);
    expect(read).toBe(20_000);
  });
});

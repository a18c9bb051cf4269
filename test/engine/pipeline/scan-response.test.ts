import { describe, expect, it } from 'vitest';
import { PROFILE } from '../../../src/profile/profile.ts';
import { CONTRACT_DEFAULTS } from '../../../src/portico-settings.ts';
import { loadContract } from '../../../src/engine/contract/load-contract.ts';
import { applicableRules } from '../../../src/engine/contract/check-semantics.ts';
import { DEFAULT_JSON_LIMITS } from '../../../src/lib/bounded-json.ts';
import { authorsOf } from '../../../src/engine/pipeline/authors.ts';
import { bodyFactsOf } from '../../../src/engine/pipeline/body-facts.ts';
import { createScanResponse, excerptOf } from '../../../src/engine/pipeline/scan-response.ts';
import { openScanner } from '../../../src/engine/scanner/open-scanner.ts';
import { type Example, exampleOf } from '../../builders/contract-examples.ts';
import { plannedWith } from '../../builders/exchange.ts';

const contract = loadContract(CONTRACT_DEFAULTS);
const scan = createScanResponse(contract, openScanner(DEFAULT_JSON_LIMITS), PROFILE.items);

function operationOf(id: string) {
  const operation = contract.operations.find((one) => one.id === id);
  if (operation === undefined) throw new Error(id);
  return operation;
}

function valuesFor(id: string, query: string) {
  const rawParameters = { nodeId: '118', commentId: '1' };
  return contract.decodeParameters(operationOf(id), { rawParameters }, query).values;
}

const nodeOf = (result: Example, member: string) => (result[member] as Example)['node'] as Example;

/** Scans a body as if it were the operation's response to a request with the given query. */
function scanned(id: string, body: unknown, { query = '', status = 200, mediaType = 'application/json' } = {}) {
  const operation = operationOf(id);
  const values = valuesFor(id, query);
  const bytes = Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
  return scan(operation, values, { status, mediaType, bytes });
}

describe('the scan of a response', () => {
  it('proves a valid response, and reads what the later steps read', () => {
    const page = exampleOf('listQuestions');
    const found = scanned('listQuestions', page);
    const json = typeof found === 'object' ? found.json : undefined;
    expect(found).toMatchObject({ findings: { verdict: 'valid', violations: [], reported: [] } });
    const planned = plannedWith({ operation: operationOf('listQuestions') });
    expect(bodyFactsOf(planned, json)).toEqual(bodyFactsOf(planned, page));
    expect(authorsOf(planned, json)).toEqual(authorsOf(planned, page));
    expect(authorsOf(planned, json)).toHaveLength(page.list.length);
  });

  it('reports undocumented fields as the check of the parsed body does', () => {
    const page = exampleOf('listQuestions');
    const [question] = page.list;
    const drifted = {
      ...page,
      total: 1,
      list: [question, { ...question, votes: [1], author: { ...question.author, 'é ü': null } }],
    };
    const json = { ...drifted, listCount: 2, totalCount: 2 };
    const found = scanned('listQuestions', json);
    const received = { status: 200, mediaType: 'application/json', json };
    const { values } = contract.decodeParameters(operationOf('listQuestions'), { rawParameters: {} }, '');
    const expected = contract.checkResponse(operationOf('listQuestions'), values, received);
    expect(expected.reported.map(({ at }) => at)).toEqual(['/total', '/list/1/votes', '/list/1/author/?']);
    expect(found).toMatchObject({ findings: expected });
  });

  it('finds the same in all responses with the same undocumented fields, and looks closer at one that also breaks a rule', () => {
    const page = { ...exampleOf('listQuestions'), total: 1 };
    const findings = (body: unknown) => {
      const found = scanned('listQuestions', body);
      return typeof found === 'object' ? found.findings : found;
    };
    const first = findings(page);
    expect(first).toMatchObject({ verdict: 'valid', reported: [{ at: '/total' }] });
    expect(findings({ ...page, total: 2 })).toBe(first);
    expect(findings({ ...page, page: 9 })).toBe('closer');
    expect(findings({ ...page, more: 1 })).toMatchObject({ reported: [{ at: '/total' }, { at: '/more' }] });
  });

  it.each([
    ['listQuestions', 'a page past its count', (page: Example) => (page['page'] = 9)],
    ['listIdeas', 'an item of another type', ({ list: [item] }: Example) => (item['type'] = 'question')],
    ['listAnswerComments', 'an item of another type', ({ list: [item] }: Example) => (item['type'] = 'question')],
    ['getComment', 'another type', (comment: Example) => (comment['type'] = 'answer')],
    ['unmarkFavorite', 'another node', ({ result }: Example) => (nodeOf(result, 'favoriteAction')['id'] = 119)],
    ['cancelWiki', 'another node', ({ result }: Example) => (nodeOf(result, 'wikifyAction')['id'] = 119)],
  ])('looks closer at a response of %s with %s, which breaks a semantic rule', (id, _, change) => {
    const body = exampleOf(id);
    expect(scanned(id, body)).toMatchObject({ findings: { verdict: 'valid' } });
    change(body);
    expect(scanned(id, body)).toBe('closer');
  });

  it('reports unmet expectations as the check of the parsed body does, without looking closer', () => {
    const page = exampleOf('listQuestions');
    const [question] = page.list;
    const { slug, ...short } = question as typeof question & { slug: string };
    const list = [question, { ...short, creationDateFormatted: `14.11.2023 ${slug.length}` }, { ...short, title: 'x' }];
    const json = { ...page, list, listCount: 3, totalCount: 3, sorts: ['active', 'oldest'] };
    const operation = operationOf('listQuestions');
    const response = { status: 200, mediaType: 'application/json', json };
    const expected = contract.checkResponse(operation, valuesFor('listQuestions', ''), response);
    expect(expected.reported).toEqual([
      {
        check: 'responses',
        direction: 'response',
        category: 'advisory',
        location: 'body',
        at: '/list/1/slug',
        keyword: 'x-expected',
        schemaPath: 'resources/question.schema.json#/allOf/2/x-expected',
        message: '/list/1/slug is expected but absent',
      },
      expect.objectContaining({
        at: '/sorts/1',
        keyword: 'x-expected-enum',
        schemaPath: 'resources/sort-name.schema.json#/x-expected-enum',
        message: expect.stringMatching(/^\/sorts\/1 is expected to be one of active, newest, /) as string,
        found: 'the word oldest',
      }),
      expect.objectContaining({
        at: '/list/1/creationDateFormatted',
        keyword: 'x-expected-pattern',
        message: '/list/1/creationDateFormatted is expected to have the documented form',
        found: expect.stringMatching(/^text of 1[23] characters/) as string,
      }),
    ]);
    expect(scanned('listQuestions', json)).toMatchObject({ findings: expected });
  });

  it.each([
    ['an invalid field', 'listQuestions', { pageCount: '3' }, ''],
    ['a missing field', 'listQuestions', { pageCount: undefined }, ''],
    ['a violated semantic rule', 'listQuestions', { listCount: 99 }, ''],
    ['another space than the requested one', 'listQuestions', {}, 'spaceId=4242'],
    ['an error beside the page', 'listQuestions', { error: 'x' }, ''],
    ['a page count where none is documented', 'listActions', { pageCount: 1 }, ''],
  ])('looks closer at %s', (_name, id, change, query) => {
    expect(scanned(id, exampleOf(id), { query: query === '' ? '' : 'spaceId=5' })).toBeTypeOf('object');
    expect(scanned(id, { ...exampleOf(id), ...change }, { query })).toBe('closer');
  });

  it('looks closer at a response with another media type', () => {
    expect(scanned('listQuestions', exampleOf('listQuestions'), { mediaType: 'text/html' })).toBe('closer');
    expect(scanned('listQuestions', '<html>', { mediaType: 'text/html' })).toBe('closer');
  });

  it('uses the schema of the form that was requested', () => {
    const { listCount, ...page } = exampleOf('listQuestions');
    const projected = { ...page, listCount, list: page.list.map(({ author }) => ({ author })) };
    expect(scanned('listQuestions', projected)).toBe('closer');
    expect(scanned('listQuestions', projected, { query: 'exclude=body' })).toBeTypeOf('object');
    const relations = { ...exampleOf('listNodeFollowers'), list: [{ any: 'form' }], listCount: 1 };
    expect(scanned('listNodeFollowers', relations)).toBe('closer');
    expect(scanned('listNodeFollowers', relations, { query: 'details=true' })).toBeTypeOf('object');
  });

  it('is not made where it has no tables or cannot see what is checked', () => {
    const page = exampleOf('listQuestions');
    expect(scanned('listQuestions', page, { status: 400 })).toBeUndefined();
    expect(scanned('listQuestions', page, { status: 299 })).toBeUndefined();
    expect(scanned('listQuestions', page, { query: 'includeOnly=id' })).toBeUndefined();
    expect(scanned('listQuestions', '')).toBeUndefined();
  });

  it('leaves responses whose schema has an unsupported keyword to the parser', () => {
    const path = 'operations/listQuestions/response.200.schema.json';
    const schemas = new Map(contract.schemas).set(path, { type: 'object', uniqueItems: true });
    const operations = [operationOf('listQuestions')];
    const { values } = contract.decodeParameters(operationOf('listQuestions'), { rawParameters: {} }, '');
    const look = {
      status: 200,
      mediaType: 'application/json',
      bytes: Buffer.from(JSON.stringify(exampleOf('listQuestions'))),
    };
    const other = createScanResponse(
      { ...contract, schemas, operations },
      openScanner(DEFAULT_JSON_LIMITS),
      PROFILE.items,
    );
    expect(other(operationOf('listQuestions'), values, look)).toBeUndefined();
    const own = createScanResponse({ ...contract, operations }, openScanner(DEFAULT_JSON_LIMITS), PROFILE.items);
    expect(own(operationOf('listQuestions'), values, look)).toBeTypeOf('object');
  });

  it('reads in each response what the semantic rules that apply to it read', () => {
    expect(excerptFor('listActions')).toEqual(
      expect.arrayContaining(['/actions/*/node/id', '/actions/*/actionDate', '/actions/*/canceledByUser', '/error']),
    );
    expect(excerptFor('listActions', 'sort=newest')).not.toContain('/actions/*/actionDate');
    expect(excerptFor('getComment')).toEqual(
      expect.arrayContaining(['/id', '/author/username', '/recipients', '/visibility']),
    );
    expect(excerptFor('listQuestions', 'spaceId=5')).toContain('/list/*/containerIds/*');
    expect(excerptFor('listQuestions', 'spaceId=5&exclude=containerIds')).not.toContain('/list/*/containerIds/*');
    expect(excerptFor('listQuestions')).not.toContain('/list/*/containerIds/*');
  });

  it('reads what a request needs, whatever the requests before needed', () => {
    const page = exampleOf('listQuestions');
    for (const query of ['', 'spaceId=4242', '', 'spaceId=5'])
      expect(scanned('listQuestions', page, { query }) === 'closer').toBe(query === 'spaceId=4242');
  });
});

function excerptFor(id: string, query = ''): readonly string[] {
  const operation = operationOf(id);
  return excerptOf(
    contract.semanticRules,
    operation,
    applicableRules(contract.semanticRules, operation, valuesFor(id, query)),
    PROFILE.items,
  );
}

import { describe, expect, it } from 'vitest';
import { CONTRACT_DEFAULTS } from '../../../../src/portico-settings.ts';
import { loadContract } from '../../../../src/engine/contract/load-contract.ts';
import { contract, operation } from '../sample.ts';
import { survives, toProjection } from '../../../../src/engine/contract/compile/decode-parameters.ts';

const FILLED = {
  nodeId: '1',
  commentId: '1',
  groupId: '1',
  topicId: '1',
  userId: '1',
  answerId: '1',
  issueId: '1',
  jobId: '1',
};

function decode(id: string, query: string | undefined, rawParameters: Record<string, string> = {}) {
  return contract.decodeParameters(operation(id), { rawParameters: { ...FILLED, ...rawParameters } }, query);
}

const refused = (id: string, query: string, path: Record<string, string> = {}) =>
  decode(id, query, path).violations.map(({ keyword, location, at }) => `${keyword} ${location} ${at}`);

describe('decoding parameters (docs/rules.md §4)', () => {
  it('reads an absent query as defaults', () => {
    expect(decode('listNodeFollowers', undefined)).toMatchObject({
      violations: [],
      reported: [],
      values: {
        page: undefined,
        pageSize: undefined,
        projection: undefined,
        details: false,
        active: true,
        wrap: false,
        v1: false,
      },
    });
  });

  it('reads numbers, booleans and texts', () => {
    const { values, violations } = decode(
      'listNodeFollowers',
      'page=0&pageSize=20&details=true&active=false&sort=newest&wrap',
    );
    expect(violations).toEqual([]);
    expect(values).toMatchObject({ page: 0, pageSize: 20, details: true, active: false, sort: 'newest', wrap: true });
  });

  it('decodes plus signs, percent-encoded bytes and raw commas', () => {
    const { values } = decode('listQuestions', 'q=two+words*&q=a%20b&topics=a%2Cb&includeOnly=id,author.username');
    expect(values.query.get('q')).toEqual(['two words*', 'a b']);
    expect(values.query.get('topics')).toEqual(['a,b']);
    expect(values.projection?.includeOnly).toEqual(['id', 'author.username']);
  });

  it.each(['-0', '+1', '0x10', '1e1', '1.0', ' 7', '7 ', 'true', '', 'x', '１', '%2B1'])(
    'refuses page=%s, which some parsers accept as a number',
    (text) => {
      expect(refused('listQuestions', `page=${text}`)).toEqual(['type query page']);
      expect(decode('listQuestions', `page=${text}`).values.page).toBeUndefined();
    },
  );

  it.each([
    ['listQuestions', 'page=-1', {}, 'minimum query page', 'page must be at least 0'],
    ['listQuestions', 'page=-007', {}, 'minimum query page', 'page must be at least 0'],
    ['listQuestions', 'pageSize=-5', {}, 'minimum query pageSize', 'pageSize must be at least 1'],
    ['listQuestions', 'spaceId=-5', {}, 'minimum query spaceId', 'spaceId must be at least 0'],
    ['getComment', '', { commentId: '-1' }, 'minimum path commentId', 'commentId must be at least 0'],
    ['listQuestions', 'page=1234567890', {}, 'maximum query page', 'page must be a whole number of one to nine digits'],
    [
      'getComment',
      '',
      { commentId: `-${'9'.repeat(30)}` },
      'maximum path commentId',
      'commentId must be a whole number within 64 bits',
    ],
  ])('reports a number outside its bounds as such: %s %s %j', (id, query, path, short, message) => {
    expect(refused(id, query, path)).toEqual([short]);
    expect(decode(id, query, path).violations).toMatchObject([{ category: 'bounds', message }]);
    expect(decode(id, query, path).values).toMatchObject({ page: undefined, pageSize: undefined, spaceId: undefined });
  });

  it('checks the bounds of the generated schema', () => {
    expect(refused('listQuestions', 'pageSize=0')).toEqual(['minimum query pageSize']);
    expect(decode('listQuestions', 'pageSize=0').values.pageSize).toBeUndefined();
    expect(refused('listQuestions', `q=${'x'.repeat(2001)}`)).toEqual(['maxLength query q']);
    expect(refused('listQuestions', `q=${'x'.repeat(2000)}`)).toEqual([]);
  });

  it.each(['True', '1', 'yes', '', 'false '])('refuses details=%s', (text) => {
    expect(refused('listTopicFollowers', `details=${encodeURIComponent(text)}`)).toEqual(['type query details']);
  });

  it('accepts ids of up to 64 bits as strings of digits', () => {
    expect(decode('listQuestions', 'spaceId=9223372036854775807').values.spaceId).toBe('9223372036854775807');
    expect(refused('listQuestions', 'spaceId=9223372036854775808')).toEqual(['maximum query spaceId']);
    expect(refused('listQuestions', 'spaceId=99999999999999999999')).toEqual(['maximum query spaceId']);
    expect(refused('listQuestions', 'spaceId=abc')).toEqual(['type query spaceId']);
  });

  it.each(['abc', '-1', '1.5', '%2e%2e%2f1', '%zz', '%ff', '%00', '99999999999999999999', '%31x'])(
    'refuses the path parameter %s',
    (commentId) => {
      const [first] = decode('getComment', undefined, { commentId }).violations;
      expect(first).toMatchObject({ check: 'requests', direction: 'request', location: 'path', at: 'commentId' });
    },
  );

  it('decodes a path parameter', () => {
    expect(decode('getComment', undefined, { commentId: '%31' }).values.path).toEqual({ commentId: '1' });
    expect(decode('getGdprJob', undefined, { jobId: '0' }).violations).toEqual([]);
  });

  it.each(['QA-1', '10001', 'a.b_c', 'x'.repeat(100)])(
    'accepts the issue %s, because the form of issue ids is not documented',
    (issueId) => {
      const { values, violations } = decode('copyAttachments', undefined, { issueId });
      expect(violations).toEqual([]);
      expect(values.path['issueId']).toBe(issueId);
    },
  );

  it.each(['', '..', '%2e%2e', '-1', 'a%2Fb', 'a b', 'x'.repeat(101), '%zz', 'é'])(
    'refuses the issue %s once',
    (issueId) => {
      expect(decode('copyAttachments', undefined, { issueId }).violations).toMatchObject([
        { location: 'path', at: 'issueId' },
      ]);
    },
  );

  it.each(['abc', '7a', '-0'])('refuses the group %s', (groupId) => {
    expect(refused('listGroupUsers', '', { groupId })).toEqual(['type path groupId']);
  });

  it('suggests the parameter with the closest name', () => {
    const [space] = decode('listQuestions', 'space=1').violations;
    expect(space).toMatchObject({ keyword: 'unknown', category: 'not-allowed', at: 'space', suggestion: 'spaceId' });
    expect(decode('listQuestions', 'pagesize=1').violations[0]?.suggestion).toBe('pageSize');
    expect(decode('listQuestions', 'zebra=1').violations[0]).not.toHaveProperty('suggestion');
  });

  it('never repeats a value of the request', () => {
    const secret = 'hunter2';
    const { violations } = decode(
      'listQuestions',
      `page=${secret}&spaceId=${secret}&nope=${secret}&pageSize=%zz${secret}`,
    );
    expect(violations).toHaveLength(4);
    expect(JSON.stringify(violations)).not.toContain(secret);
  });

  it('does not repeat an unknown name that is long or contains unusual characters', () => {
    const [long] = decode('listQuestions', `${'n'.repeat(65)}=1`).violations;
    expect(long).toMatchObject({ at: '', keyword: 'unknown' });
    expect(decode('listQuestions', '%3Cb%3E=1').violations[0]).toMatchObject({ at: '', keyword: 'unknown' });
  });

  it('refuses a repeated parameter only if it must be single', () => {
    for (const name of ['page', 'pageSize', 'sort', 'spaceId'])
      expect(refused('listQuestions', `${name}=1&${name}=1`)).toEqual([`repeated query ${name}`]);
    for (const name of ['details', 'active'])
      expect(refused('listTopicFollowers', `${name}=true&${name}=true`)).toEqual([`repeated query ${name}`]);
    for (const name of ['topics', 'q', 'type', 'lang', 'unanswered', 'include', 'exclude', 'includeOnly', 'wrap', 'v1'])
      expect(refused('listQuestions', `${name}=1&${name}=2`)).toEqual([]);
  });

  it('refuses invalid percent-encoding and encoded NULs', () => {
    expect(refused('listQuestions', 'q=%zz')).toEqual(['encoding query q']);
    expect(refused('listQuestions', 'q=%C3%28')).toEqual(['encoding query q']);
    expect(refused('listQuestions', 'q=a%00b')).toEqual(['encoding query q']);
    expect(refused('listQuestions', '%zz=1')).toEqual(['encoding query ']);
  });

  it('limits the number of parameters and of violations', () => {
    expect(refused('listQuestions', Array.from({ length: 101 }, () => 'topics=a').join('&'))).toEqual(['count query ']);
    expect(refused('listQuestions', Array.from({ length: 100 }, () => 'topics=a').join('&'))).toEqual([]);
    expect(refused('listQuestions', Array.from({ length: 90 }, (_, n) => `x${n}=1`).join('&'))).toHaveLength(20);
  });

  it('is not confused by names of the object prototype', () => {
    expect(refused('listQuestions', '__proto__=1&constructor=2&toString=3')).toHaveLength(3);
  });

  it('never refuses an unknown sort', () => {
    expect(refused('listGroupUsers', 'sort=nonsense')).toEqual([]);
  });

  it('reads at most a hundred parameters, not counting empty ones', () => {
    const pairs = Array.from({ length: 101 }, (_, index) => `q=${index}`);
    expect(decode('listQuestions', pairs.join('&')).values.query.get('q')).toHaveLength(100);
    expect(decode('listQuestions', ['', ...pairs].join('&')).values.query.get('q')).toHaveLength(100);
    expect(decode('listQuestions', ['', ...pairs.slice(0, 99)].join('&')).values.query.get('q')).toHaveLength(99);
  });

  it('accepts no parameters for operations 1, 2, 3 and 5, and only wrap for 11 and 12', () => {
    for (const id of ['uploadGdprFile', 'getGdprJob', 'copyAttachments', 'listNodeComments'])
      expect(refused(id, 'wrap=true')).toEqual(['unknown query wrap']);
    for (const id of ['unmarkFavorite', 'cancelWiki']) {
      expect(refused(id, 'wrap=true')).toEqual([]);
      expect(refused(id, 'v1=true')).toEqual(['unknown query v1']);
    }
  });

  it('reports unknown parameters of operation 7 and never refuses them', () => {
    const { violations, reported } = decode('listActions', 'moreResults=1549465260000');
    expect(violations).toEqual([]);
    expect(reported).toMatchObject([{ keyword: 'unknown', at: 'moreResults' }]);
  });

  it('reports undecodable unknown parameters of operation 7 and still refuses known ones', () => {
    for (const query of ['foo=%zz', '%zz=1', 'a=1&'.repeat(101)]) {
      const { violations, reported } = decode('listActions', query);
      expect(violations).toEqual([]);
      expect(reported).not.toEqual([]);
    }
    expect(decode('listActions', 'page=%zz').violations).toMatchObject([{ keyword: 'encoding', at: 'page' }]);
    expect(decode('listQuestions', 'foo=%zz').violations).toMatchObject([{ keyword: 'encoding', at: 'foo' }]);
  });

  it('reports sort and projection on operation 13 and never refuses them', () => {
    const { violations, reported, values } = decode(
      'listArticles',
      'sort=a&sort=b&includeOnly=id&include=slug&exclude=body',
    );
    expect(violations).toEqual([]);
    expect(new Set(reported.map(({ at }) => at))).toEqual(new Set(['sort', 'includeOnly', 'include', 'exclude']));
    expect(values.projection?.includeOnly).toEqual(['id']);
    expect(refused('listArticles', 'nope=1')).toEqual(['unknown query nope']);
  });

  it('accepts the inferred page and pageSize of operations 15 and 16', () => {
    for (const id of ['listExpertise', 'listAnswerComments']) expect(refused(id, 'page=1&pageSize=5')).toEqual([]);
  });

  it('accepts configured parameters without reporting them', () => {
    const allowing = loadContract({ ...CONTRACT_DEFAULTS, allowedParameters: { listQuestions: ['space'] } });
    const allowed = allowing.decodeParameters(operation('listQuestions'), { rawParameters: {} }, 'space=1&nope=2');
    expect(allowed.violations.map(({ at }) => at)).toEqual(['nope']);
    expect(allowed.reported).toEqual([]);
    expect(allowed.values.query.get('space')).toEqual(['1']);
    const sorting = loadContract({ ...CONTRACT_DEFAULTS, allowedParameters: { listArticles: ['sort'] } });
    const sorted = sorting.decodeParameters(
      operation('listArticles'),
      { rawParameters: {} },
      'sort=newest&include=slug',
    );
    expect(sorted.reported.map(({ at }) => at)).toEqual(['include']);
  });
});

const projection = (parts: Partial<{ include: string[]; exclude: string[]; includeOnly: string[] }>) => ({
  include: [],
  exclude: [],
  includeOnly: [],
  ...parts,
});

describe('a projection', () => {
  it('is undefined if no field is named', () => {
    expect(toProjection(new Map([['includeOnly', ['', ' , ']]]), 'list')).toBeUndefined();
  });

  it('collects repeated parameters and trims names', () => {
    expect(toProjection(new Map([['exclude', ['a, b', 'c.d']]]), 'list')?.exclude).toEqual(['a', 'b', 'c.d']);
  });

  it('keeps every field if it is undefined', () => {
    expect(survives(undefined, 'author')).toBe(true);
  });

  it.each([
    [projection({ includeOnly: ['id'] }), 'id', true],
    [projection({ includeOnly: ['id'] }), 'type', false],
    [projection({ includeOnly: ['author'] }), 'author.id', true],
    [projection({ includeOnly: ['author.id'] }), 'author', false],
    [projection({ exclude: ['body'] }), 'type', true],
    [projection({ exclude: ['author.id'] }), 'author', false],
    [projection({ exclude: ['author'] }), 'author.id', false],
    [projection({ exclude: ['auth'] }), 'author', true],
    [projection({ include: ['slug'] }), 'type', false],
    [projection({ include: ['type'] }), 'type', true],
  ])('%j keeps %s: %s', (asked, field, expected) => {
    expect(survives(asked, field)).toBe(expected);
  });
});

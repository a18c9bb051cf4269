import { describe, expect, it } from 'vitest';
import { bent, contract, example, judge, operation } from '../sample.ts';

/** Returns the violations of a response in the short form `keyword at`. */
function keywordsOf(...asked: Parameters<typeof judge>): string[] {
  const { violations, reported } = judge(...asked);
  return [...violations, ...reported].map(({ keyword, at }) => `${keyword} ${at}`);
}

describe('one violation for one cause', () => {
  it('is reported for a page without its envelope', () => {
    expect(keywordsOf('listQuestions', example('questions')['list'])).toEqual(['type ']);
  });

  it('is reported for an object in an undocumented envelope', () => {
    expect(keywordsOf('getComment', { data: example('comment') })).toEqual(['shape ']);
    expect(keywordsOf('listQuestions', { data: [], total: 0 })).toEqual(['shape ']);
    expect(keywordsOf('listQuestions', {})).toEqual(['shape ']);
  });

  it('is reported for an item of an entirely different kind', () => {
    const page = bent(example('questions'), 'list.0', { follower: 5, since: 'x' });
    expect(keywordsOf('listQuestions', page)).toEqual(['shape /list/0']);
  });

  it('is reported for each missing field of an object that has others', () => {
    const page = bent(bent(example('questions'), 'list.0.author.id', undefined), 'pageCount', undefined);
    expect(keywordsOf('listQuestions', page)).toEqual(['required /pageCount', 'required /list/0/author/id']);
  });

  it('is reported for an error in place of a success, however little the success requires', () => {
    for (const id of ['listQuestions', 'listNodeComments', 'getComment', 'uploadGdprFile'])
      for (const body of [{ error: 'no' }, { errors: { message: 'no' } }, { error: { code: 5 }, status: 500 }])
        expect(keywordsOf(id, body, { status: id === 'uploadGdprFile' ? 201 : 200 })).toEqual(['error-in-success ']);
    expect(keywordsOf('listQuestions', { error: 'no' }, { query: 'wrap=true' })).toEqual(['error-in-success ']);
    expect(keywordsOf('unmarkFavorite', { success: false, error: 'no' })).toEqual([
      'required /result',
      'undocumented-field /error',
    ]);
  });

  it('is reported for an error of another shape, and not for its fields too', () => {
    expect(keywordsOf('listQuestions', { message: 'no', status: 500 }, { status: 500 })).toEqual(['anyOf ']);
    expect(keywordsOf('getGdprJob', { errors: { message: 'x' } }, { status: 404 })).toEqual(['shape ']);
    expect(keywordsOf('getGdprJob', {}, { status: 404 })).toEqual(['required /error']);
    expect(keywordsOf('listQuestions', { error: 'no', code: 5 }, { status: 500 })).toEqual([
      'undocumented-field /code',
    ]);
  });

  // A server that ignores `details=false` sends relations in a list of users. The specification does not document
  // their fields, so the fields here are only examples.
  it.each([
    ['listTopicFollowers', 'followers', { user: { id: 18 }, topic: { id: 33 } }],
    ['listTopicFollowers', 'followers', { id: 7, creationDate: 1549465260000, user: { id: 18 }, topic: { id: 33 } }],
    ['listNodeFollowers', 'followers', { id: 'r-7', type: 'relation', active: true, user: { id: 18 }, node: {} }],
    ['listNodeFollowers', 'followers', { type: 'relation', active: 'yes', user: { id: 18 }, node: {} }],
  ])('is reported once for relations in a list of users: %s', (id, sample, relation) => {
    const page = { ...example(sample), list: [relation, relation], listCount: 2, totalCount: 2 };
    expect(keywordsOf(id, page)).toEqual(['shape /list/0']);
    expect(judge(id, page).violations).toMatchObject([{ category: 'type' }]);
  });

  it('names the missing field of an object that has most of its fields, or nothing else', () => {
    const page = example('followers');
    expect(keywordsOf('listNodeFollowers', bent(page, 'list.0.type', undefined))).toEqual(['required /list/0/type']);
    expect(keywordsOf('listNodeFollowers', bent(page, 'list.0', { id: 5 }))[0]).toBe('required /list/0/type');
    expect(keywordsOf('listNodeFollowers', bent(page, 'list.0.type', 'group'))).toEqual(['const /list/0/type']);
  });

  it('is reported for a wrong content type or malformed body, and not for its content', () => {
    const page = bent(example('questions'), 'list.0.extra', 1);
    expect(keywordsOf('listQuestions', page, { mediaType: 'text/plain' })).toEqual(['content-type content-type']);
    expect(keywordsOf('listQuestions', undefined)).toEqual(['json ']);
    expect(keywordsOf('listQuestions', page, { status: 206 })).toEqual(['status ']);
  });

  it('is not reported by a rule for a field that already violates the schema', () => {
    const articles = example('articles');
    expect(keywordsOf('listArticles', bent(articles, 'list.0.type', undefined))).toEqual(['required /list/0/type']);
    expect(keywordsOf('listArticles', bent(articles, 'list.0.type', 'question'))).toEqual([
      'only-kbentry /list/0/type',
    ]);
    const job = example('finishedJob');
    expect(keywordsOf('getGdprJob', bent(job, 'status', 5))).toEqual(['type /status']);
    expect(keywordsOf('getGdprJob', bent(job, 'status', 'LOST'))).toEqual(['x-expected-enum /status']);
    expect(keywordsOf('getGdprJob', bent(job, 'executions', undefined))).toEqual([
      'executions-when-finished /executions',
    ]);
    const unplaced = bent(example('questions'), 'list.0.containerIds', undefined);
    expect(keywordsOf('listQuestions', unplaced, { query: 'spaceId=999' })).toEqual([
      'x-expected /list/0/containerIds',
    ]);
    const spaces = bent(example('questions'), 'list.0.containerIds', 'x');
    expect(keywordsOf('listQuestions', spaces, { query: 'spaceId=999' })[0]).toBe('type /list/0/containerIds');
    expect(keywordsOf('listQuestions', spaces, { query: 'spaceId=999' })).not.toContain(
      'space-filter /list/0/containerIds',
    );
  });

  it('is reported as not requested, even if nothing documents a field outside a projection', () => {
    const page = {
      ...example('questions'),
      list: [
        { id: 1, title: 'x', extra: 1 },
        { id: 2, extra: 2 },
      ],
      listCount: 2,
      totalCount: 2,
    };
    expect(keywordsOf('listQuestions', page, { query: 'includeOnly=id' })).toEqual(['includeOnly /list/0']);
    expect(keywordsOf('listQuestions', page, { query: 'includeOnly=id,title' })).toEqual(['includeOnly /list/0/extra']);
    expect(keywordsOf('listQuestions', page, { query: 'exclude=slug' })).toEqual(['undocumented-field /list/0/extra']);
  });

  it('names the same rule whether all fields or a part were requested', () => {
    const page = bent(example('questions'), 'list.0.author.reputation', 'high');
    const [whole] = judge('listQuestions', page).violations;
    const [part] = judge('listQuestions', page, { query: 'include=author' }).violations;
    expect(part?.schemaPath).toBe('resources/author.schema.json#/properties/reputation/type');
    expect(part).toEqual(whole);
  });
});

describe('undocumented fields', () => {
  it.each([
    ['listQuestions', 'questions', 'list.0.mood', '/list/0/mood'],
    ['listQuestions', 'questions', 'list.0.author.age', '/list/0/author/age'],
    ['listQuestions', 'questions', 'list.0.topics.0.author.age', '/list/0/topics/0/author/age'],
    ['listQuestions', 'questions', 'totalPages', '/totalPages'],
    ['listActions', 'actions', 'actions.0.user.age', '/actions/0/user/age'],
    ['getComment', 'comment', 'mood', '/mood'],
    ['getGdprJob', 'finishedJob', 'executions.0.mood', '/executions/0/mood'],
    ['copyAttachments', 'trackerAttachments', '0.author.avatarUrls.64x64', '/0/author/avatarUrls/64x64'],
  ])('of %s in %s at %s are reported without making the response invalid', (id, name, path, at) => {
    const judgement = judge(id, bent(example(name), path, 'bob@example.com'));
    expect(judgement).toEqual({
      verdict: 'valid',
      violations: [],
      reported: [
        {
          check: 'responses',
          direction: 'response',
          category: 'undocumented',
          location: 'body',
          at,
          keyword: 'undocumented-field',
          schemaPath: '',
          message: `${at} is not documented`,
          found: 'text of 15 characters',
        },
      ],
    });
  });

  it('are reported besides violations', () => {
    const page = bent(bent(example('questions'), 'list.0.mood', 1), 'list.0.id', 'x');
    expect(keywordsOf('listQuestions', page)).toEqual(['type /list/0/id', 'undocumented-field /list/0/mood']);
  });

  it('are reported for projected responses', () => {
    const page = { ...example('questions'), list: [{ id: 1, mood: 1 }], listCount: 1 };
    expect(judge('listQuestions', page, { query: 'exclude=body' })).toMatchObject({
      verdict: 'valid',
      reported: [{ at: '/list/0/mood' }],
    });
  });

  it('are not searched for in open objects', () => {
    const page = bent(bent(example('questions'), 'list.0.attachments', [{ any: 1 }]), 'list.0.answers', [{ any: 1 }]);
    expect(keywordsOf('listQuestions', page)).toEqual([]);
    const relations = { ...example('followRelations'), list: [{ any: 1 }], listCount: 1 };
    expect(keywordsOf('listTopicFollowers', relations, { query: 'details=true' })).toEqual([]);
  });

  it('are reported for request bodies, which are not refused because of them', () => {
    const body = { body: 'x', mood: 1, recipients: [{ id: 1, type: 'user', mood: 'bob@example.com' }] };
    expect(contract.checkRequest(operation('createComment'), body)).toMatchObject([
      { check: 'requests', direction: 'request', category: 'undocumented', at: '/mood', found: 'integer' },
      { check: 'requests', direction: 'request', at: '/recipients/0/mood', found: 'text of 15 characters' },
    ]);
  });
});

/** Returns the descriptions of the observed values in a response's violations. */
const found = (...asked: Parameters<typeof judge>) => {
  const { violations, reported } = judge(...asked);
  return [...violations, ...reported].map((violation) => violation.found);
};

describe('the observed value of a violation', () => {
  it('is described by its type, size and form', () => {
    const page = example('questions');
    expect(found('listQuestions', bent(page, 'list.0.id', 'abc'))).toEqual(['text of 3 characters']);
    expect(found('listQuestions', bent(page, 'list.0.creationDate', '2019-02-06'))).toEqual([
      'text of 10 characters, like a date',
    ]);
    expect(found('listQuestions', bent(page, 'list.0.topics', { a: 1 }))).toEqual(['object with 1 member']);
    expect(found('listQuestions', bent(page, 'list.0.type', undefined))).toEqual([undefined]);
    expect(found('listQuestions', page['list'])).toEqual(['list of 1']);
  });

  it('is described by a plain word if the contract lists words', () => {
    expect(found('getGdprJob', bent(example('pendingJob'), 'status', 'LOST'))).toEqual(['the word LOST']);
    expect(found('getGdprJob', bent(example('pendingJob'), 'status', 'bob@example.com'))).toEqual([
      'text of 15 characters, like an email address',
    ]);
  });

  it('is described only by its size if it is personal', () => {
    const page = bent(example('actions'), 'actions.0.ip', { v4: 'http://10.1.2.3' });
    expect(found('listActions', page)).toEqual(['object with 1 member']);
    expect(found('listQuestions', bent(example('questions'), 'list.0.author.username', 5))).toEqual(['integer']);
    const attachment = bent(example('trackerAttachments'), '0.author.avatarUrls.48x48', ['http://x']);
    expect(found('copyAttachments', attachment)).toEqual(['list of 1']);
  });

  it('is described for rules in code and for the content type', () => {
    expect(found('listQuestions', bent(example('questions'), 'listCount', 9))).toEqual(['integer']);
    expect(found('listQuestions', undefined, { mediaType: 'text/html' })).toEqual(['text/html']);
    expect(found('listQuestions', {}, { mediaType: 'text/bob' })).toEqual(['another content type']);
    expect(found('listQuestions', {}, { mediaType: undefined })).toEqual(['no content type']);
  });
});

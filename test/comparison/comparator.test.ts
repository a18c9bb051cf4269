/* oxlint-disable typescript/no-explicit-any, typescript/no-unsafe-member-access, typescript/no-unsafe-call, typescript/no-unsafe-assignment, typescript/no-unsafe-return -- faults of any type are planted in bodies of any form */
import { describe, expect, it } from 'vitest';
import type { NoiseRule } from '../../src/comparison/noise.ts';
import { comparatorFor } from '../workbench/compare/two-servers.ts';
import { withPlanting } from './planting.ts';

const { servers, ids, pairOf, differencesOf } = withPlanting();

type Json = any;

const QUESTIONS = '/services/v2/question.json?pageSize=8&page=3';
const IDEAS = '/services/v2/idea.json?pageSize=8&page=2';
const ACTIONS = '/services/v2/action.json?pageSize=20';
const USERS = '/services/v2/group/1/user.json';

/** Returns the first item with a property that is not empty. */
const withSome = (json: Json, name: string): Json => json.list.find((item: Json) => item[name].length > 0);

const FAULTS: readonly (readonly [
  fault: string,
  target: string,
  change: (json: Json, sent: any) => unknown,
  found: string,
])[] = [
  ['a number as text', QUESTIONS, (j) => void (j.list[3].score = String(j.list[3].score)), 'type /list/*/score'],
  ['another title', QUESTIONS, (j) => void (j.list[3].title += '!'), 'value /list/*/title'],
  ['an empty title', QUESTIONS, (j) => void (j.list[3].title = ''), 'form /list/*/title'],
  ['null for a name', QUESTIONS, (j) => void (j.list[2].author.username = null), 'null /list/*/author/username'],
  ['a field that is missing', QUESTIONS, (j) => void delete j.list[2].slug, 'missing /list/*/slug'],
  ['a field that nobody knows', QUESTIONS, (j) => void (j.list[2].secret = 1), 'extra /list/*/secret'],
  ['an item that is missing', QUESTIONS, (j) => void (j.list.splice(3, 1), (j.listCount -= 1)), 'missing-item /list/*'],
  [
    'an item that nobody knows',
    QUESTIONS,
    (j) =>
      void (
        j.list.splice(3, 0, { ...j.list[3], id: 987_654, title: 'New', body: 'New', creationDate: 1, slug: 'new' }),
        (j.listCount += 1)
      ),
    'extra-item /list/*',
  ],
  ['an item twice', QUESTIONS, (j) => void (j.list.splice(3, 0, j.list[2]), (j.listCount += 1)), 'extra-item /list/*'],
  ['another item', QUESTIONS, (j) => void (j.list[3] = { ...j.list[3], id: 987_654 }), 'other-item /list/*'],
  [
    'two items that changed places',
    QUESTIONS,
    (j) => void ([j.list[1], j.list[5]] = [j.list[5], j.list[1]]),
    'order /list',
  ],
  ['an item that moved', QUESTIONS, (j) => void j.list.push(...j.list.splice(2, 1)), 'order /list'],
  ['a wrong total', QUESTIONS, (j) => void (j.totalCount += 1), 'count /totalCount'],
  ['a wrong number of pages', QUESTIONS, (j) => void (j.pageCount += 1), 'count /pageCount'],
  ['a wrong number of items', QUESTIONS, (j) => void (j.listCount += 1), 'count /listCount'],
  ['another page size', QUESTIONS, (j) => void (j.pageSize = 7), 'count /pageSize'],
  ['another page number', QUESTIONS, (j) => void (j.page = 4), 'count /page'],
  ['another sort order', QUESTIONS, (j) => void (j.sort = 'newest'), 'value /sort'],
  ['a sort order that is missing', QUESTIONS, (j) => void j.sorts.splice(2, 1), 'missing-item /sorts/*'],
  ['sort orders in another order', QUESTIONS, (j) => void j.sorts.reverse(), 'order /sorts'],
  [
    'the wrong author',
    QUESTIONS,
    (j) => void (j.list[1].author.id = j.list[1].author.id === 100_002 ? 100_003 : 100_002),
    'identity /list/*/author/id',
  ],
  ['an id of the old server', QUESTIONS, (j) => void (j.list[1].author.id -= 100_000), 'identity /list/*/author/id'],
  [
    'a child that is missing',
    QUESTIONS,
    (j) => void withSome(j, 'childrenIds').childrenIds.pop(),
    'missing-item /list/*/childrenIds/*',
  ],
  [
    'another space',
    QUESTIONS,
    (j) => void (withSome(j, 'containerIds').containerIds[0] = 42),
    'other-item /list/*/containerIds/*',
  ],
  [
    'a revision that was rounded',
    QUESTIONS,
    (j) => void (j.list[0].activeRevisionId = 9_007_199_254_740_992),
    'identity /list/*/activeRevisionId',
  ],
  ['another instant', QUESTIONS, (j) => void (j.list[0].creationDate += 1000), 'value /list/*/creationDate'],
  [
    'seconds for milliseconds',
    QUESTIONS,
    (j) => void (j.list[0].lastActiveDate = Math.floor(j.list[0].lastActiveDate / 1000)),
    'value /list/*/lastActiveDate',
  ],
  [
    'another minute in a text',
    QUESTIONS,
    (j) => void (j.list[0].creationDateFormatted = '2019-02-06T15:01Z'),
    'value /list/*/creationDateFormatted',
  ],
  [
    'words for a date',
    QUESTIONS,
    (j) => void (j.list[0].creationDateFormatted = 'yesterday'),
    'form /list/*/creationDateFormatted',
  ],
  [
    'another word in HTML',
    QUESTIONS,
    (j) => void (j.list[0].bodyAsHTML = j.list[0].bodyAsHTML.replace('<p>', '<p>Not ')),
    'value /list/*/bodyAsHTML',
  ],
  [
    'another tag in HTML',
    QUESTIONS,
    (j) => void (j.list[0].bodyAsHTML = j.list[0].bodyAsHTML.replaceAll('p>', 'div>')),
    'value /list/*/bodyAsHTML',
  ],
  [
    'an address of the old server',
    QUESTIONS,
    (j) => void (j.list[0].body += ` ${servers().old.url}/questions/5`),
    'address /list/*/body',
  ],
  ['negative views', QUESTIONS, (j) => void (j.list[0].viewCount = -3), 'form /list/*/viewCount'],
  ['views as text', QUESTIONS, (j) => void (j.list[0].viewCount = '12'), 'type /list/*/viewCount'],
  ['no views', QUESTIONS, (j) => void delete j.list[0].viewCount, 'missing /list/*/viewCount'],
  ['null views', QUESTIONS, (j) => void (j.list[0].viewCount = null), 'null /list/*/viewCount'],
  ['a mark that is lost', QUESTIONS, (j) => void (j.list[0].wiki = !j.list[0].wiki), 'value /list/*/wiki'],
  ['a state too many', QUESTIONS, (j) => void j.list[0].nodeStates.push('locked'), 'extra-item /list/*/nodeStates/*'],
  [
    'a topic that is missing',
    QUESTIONS,
    (j) => void withSome(j, 'topics').topics.pop(),
    'missing-item /list/*/topics/*',
  ],
  [
    'a wrong count in a topic',
    QUESTIONS,
    (j) => void (withSome(j, 'topics').topics[0].usedCount += 1),
    'value /list/*/topics/*/usedCount',
  ],
  ['a wrong count of answers', QUESTIONS, (j) => void (j.list[0].answerCount += 1), 'value /list/*/answerCount'],
  ['a fraction', QUESTIONS, (j) => void (j.list[0].depth = 0.5), 'form /list/*/depth'],
  ['no list', QUESTIONS, (j) => void delete j.list, 'missing /list'],
  ['an object for the list', QUESTIONS, (j) => void (j.list = {}), 'type /list'],
  ['an idea without its name in addresses', IDEAS, (j) => void delete j.list[0].slug, 'missing /list/*/plug'],
  ['an idea with another name in addresses', IDEAS, (j) => void (j.list[0].slug += 'x'), 'value /list/*/plug'],
  [
    'an idea without its topics',
    IDEAS,
    (j) => void (withSome(j, 'topics').topics.length = 0),
    'missing-item /list/*/topics/*',
  ],
  [
    'an idea with another topic',
    IDEAS,
    (j) => void (withSome(j, 'topics').topics[0] = 'other'),
    'other-item /list/*/topics/*',
  ],
  [
    'an action an hour later',
    ACTIONS,
    (j) => void (j.actions[4].actionDate = j.actions[4].actionDate.replace('+01:00', 'Z')),
    'value /actions/*/actionDate',
  ],
  ['another verb', ACTIONS, (j) => void (j.actions[4].verb = 'liked'), 'value /actions/*/verb'],
  ['another address of a caller', ACTIONS, (j) => void (j.actions[4].ip = '192.0.2.99'), 'value /actions/*/ip'],
  ['an action on another node', ACTIONS, (j) => void (j.actions[4].node.id += 1), 'identity /actions/*/node/id'],
  ['a user without a group', USERS, (j) => void withSome(j, 'groups').groups.pop(), 'missing-item /list/*/groups/*'],
  ['a user with power', USERS, (j) => void (j.list[0].superuser = !j.list[0].superuser), 'value /list/*/superuser'],
  [
    'another picture',
    USERS,
    (j) => void (j.list[0].avatar = j.list[0].avatar.replace('avatars', 'pictures')),
    'value /list/*/avatar',
  ],
  ['a status', QUESTIONS, (_, sent) => void (sent.status = 202), 'status status'],
  [
    'a failure',
    QUESTIONS,
    (_, sent) => void ((sent.status = 500), (sent.body = Buffer.from('{"error":"x"}'))),
    'status status',
  ],
  [
    'nothing found',
    QUESTIONS,
    (_, sent) => void ((sent.status = 404), (sent.body = Buffer.from('{"error":"not found"}'))),
    'status status',
  ],
  [
    'a denial',
    QUESTIONS,
    (_, sent) =>
      void ((sent.status = 401), (sent.body = Buffer.from(`{"error":"You don't have permission to do this action."}`))),
    'permission status',
  ],
  ['another content type', QUESTIONS, (_, sent) => void (sent.mediaType = 'text/plain'), 'media-type header'],
  [
    'a page of HTML',
    QUESTIONS,
    (_, sent) => void ((sent.mediaType = 'text/html'), (sent.body = Buffer.from('<html></html>'))),
    'media-type header',
  ],
  ['half of a body', QUESTIONS, (_, sent) => void (sent.body = sent.body.subarray(0, 100)), 'body '],
  [
    'an error inside a success',
    QUESTIONS,
    (_, sent) => void (sent.body = Buffer.from('{"error":"no database"}')),
    'error status',
  ],
  [
    'another error',
    '/services/v2/node/999999/comment.json',
    (_, sent) => void (sent.body = Buffer.from('{"error":"who knows"}')),
    'error status',
  ],
];

describe('a fault on the new server', () => {
  it('is planted in more than 40 ways', () => expect(FAULTS.length).toBeGreaterThanOrEqual(55));

  it.each(FAULTS)('is found as one difference: %s', async (_, target, change, expected) => {
    const { counted } = await differencesOf(target, change);
    expect(counted).toEqual([expected]);
  });

  it.each([...new Set(FAULTS.map(([, target]) => target))])(
    'is not seen where none was planted: %s',
    async (target) => {
      const { counted } = await differencesOf(target, () => undefined);
      expect(counted).toEqual([]);
    },
  );

  it('can be looked for step by step, one item after the other', async () => {
    const pair = await pairOf(QUESTIONS);
    const { comparator } = comparatorFor({ old: servers().old.url, new: servers().new.url }, { ids });
    let turns = 0;
    await comparator.compareInTurns(pair, () => Promise.resolve(void (turns += 1)));
    const { list } = JSON.parse(pair.old.body.toString()) as { readonly list: readonly unknown[] };
    // Both responses are read and checked before.
    expect(turns).toBeGreaterThanOrEqual(4 + list.length);
  });

  it('is described with the other members of its object once, however many differences the object has', async () => {
    const pair = await pairOf(QUESTIONS);
    const json = JSON.parse(pair.new.body.toString());
    for (let member = 0; member < 5; member += 1) json[`new${member}`] = 1;
    const body = Buffer.from(JSON.stringify(json));
    const { differences } = comparatorFor(
      { old: servers().old.url, new: servers().new.url },
      { ids },
    ).comparator.compare({ ...pair, new: { ...pair.new, body } });
    const described = differences.flatMap(({ kind, beside }) => (kind === 'extra' ? [beside] : []));
    expect(described).toHaveLength(5);
    // Otherwise, a response with very many members would hold up everything else.
    expect(new Set(described).size).toBe(1);
  });

  it('is a leak if a caller receives what the old server denies', async () => {
    const target = '/services/v2/action.json';
    const { counted } = await differencesOf(
      target,
      (_, sent) => {
        sent.status = 200;
        sent.body = Buffer.from('{"actions":[],"moreResults":0}');
      },
      { role: 'bob' },
    );
    expect(counted).toEqual(['leak status']);
  });

  it('is a leak if a private field appears', async () => {
    const { counted } = await differencesOf(QUESTIONS.replace('question', 'article'), () => undefined);
    expect(counted).toEqual([]);
    const comments = await commentsOfSomeNode('bob');
    const leaked = await differencesOf(comments, (j) => void (j[0].visibility = 'moderators'), { role: 'bob' });
    expect(leaked.counted).toEqual(['leak /*/visibility']);
    // Not even if nothing else is left of the comment.
    const only = await differencesOf(comments, (j) => void (j[0] = { visibility: 'moderators' }), { role: 'bob' });
    expect(only.counted).toContain('leak /*/visibility');
  });

  it('is a leak if an item appears that the old server sends only to others', async () => {
    const target = await commentsOfSomeNode('bob');
    const hidden = 271;
    ids.match('node', String(hidden), '100271', {} as never);
    const others = { ids: new Set([String(hidden)]), isAllowed: true };
    const { counted } = await differencesOf(
      target,
      (j) => void j.push({ ...j[0], id: 100_271, body: 'x', creationDate: 1 }),
      {
        role: 'bob',
        others,
      },
    );
    expect(counted).toEqual(['leak /*']);
  });
});

/** Returns the target of a node with at least two comments that a caller may see. */
async function commentsOfSomeNode(role: string): Promise<string> {
  const response = await fetch(`${servers().old.url}/services/v2/question.json?pageSize=100`);
  const { list }: Json = await response.json();
  for (const { id, commentIds } of list) {
    if (commentIds.length < 1 || ids.toNew('node', String(id)) === undefined) continue;
    const { old } = await pairOf(`/services/v2/node/${id}/comment.json`, role);
    if (JSON.parse(old.body.toString()).length >= 1) return `/services/v2/node/${id}/comment.json`;
  }
  throw new Error('no node has comments');
}

describe('a rule about noise', () => {
  const rule = (at: string): NoiseRule => ({
    operation: 'listQuestions',
    at,
    reason: 'counts live',
    owner: 'the team',
    until: '2099-12-31',
  });
  const noise = [
    'score',
    'title',
    'wiki',
    'creationDate',
    'slug',
    'creationDateFormatted',
    'topics/*/usedCount',
    'depth',
    'author/id',
  ].map((name) => rule(`/list/*/${name}`));

  it('mutes another value at exactly its place', async () => {
    const muted = await differencesOf(QUESTIONS, (j) => void (j.list[0].score += 7), { noise });
    expect(muted).toEqual({ counted: [], muted: ['value /list/*/score', 'value /list/*/viewCount'] });
    const beside = await differencesOf(QUESTIONS, (j) => void (j.list[0].upVoteCount += 7), { noise });
    expect(beside.counted).toEqual(['value /list/*/upVoteCount']);
  });

  it.each([
    ['type', (j: Json) => void (j.list[0].score = '7'), 'type /list/*/score'],
    ['presence', (j: Json) => void delete j.list[0].score, 'missing /list/*/score'],
    ['null', (j: Json) => void (j.list[0].score = null), 'null /list/*/score'],
    ['form of a number', (j: Json) => void (j.list[0].score = 0.5), 'form /list/*/score'],
    ['sign of a number', (j: Json) => void (j.list[0].creationDate *= -1), 'form /list/*/creationDate'],
    [
      'form of a date',
      (j: Json) => void (j.list[0].creationDateFormatted = 'soon'),
      'form /list/*/creationDateFormatted',
    ],
    ['emptiness', (j: Json) => void (j.list[0].title = ''), 'form /list/*/title'],
    ['reference', (j: Json) => void (j.list[1].author.id -= 100_000), 'identity /list/*/author/id'],
    ['an item', (j: Json) => void (j.list.splice(3, 1), (j.listCount -= 1)), 'missing-item /list/*'],
    ['order', (j: Json) => void ([j.list[1], j.list[5]] = [j.list[5], j.list[1]]), 'order /list'],
    ['count', (j: Json) => void (j.totalCount += 1), 'count /totalCount'],
    ['status', (_: Json, sent: any): void => void (sent.status = 202), 'status status'],
    [
      'permission',
      (_: Json, sent: any): void =>
        void (
          (sent.status = 401),
          (sent.body = Buffer.from(`{"error":"You don't have permission to do this action."}`))
        ),
      'permission status',
    ],
  ] as const)('never hides: %s', async (_, change, expected) => {
    const places = ['', '/list', '/list/*', '/totalCount', '/list/*/viewCount'].map(rule);
    const { counted } = await differencesOf(QUESTIONS, change, { noise: [...noise, ...places] });
    expect(counted).toEqual([expected]);
  });

  it('does not apply after its last day', async () => {
    const past = [{ ...rule('/list/*/score'), until: '2026-05-03' }];
    const { counted } = await differencesOf(QUESTIONS, (j) => void (j.list[0].score += 7), { noise: past });
    expect(counted).toEqual(['value /list/*/score']);
  });
});

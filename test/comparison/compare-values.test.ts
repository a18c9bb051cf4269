/* oxlint-disable typescript/no-explicit-any, typescript/no-unsafe-member-access, typescript/no-unsafe-call, typescript/no-unsafe-assignment, typescript/no-unsafe-argument, typescript/no-unsafe-return -- faults of any type are planted in bodies of any form */
import { describe, expect, it } from 'vitest';
import type { NoiseRule } from '../../src/comparison/noise.ts';
import { withPlanting } from './planting.ts';

// Faults of other kinds than those in comparator.test.ts: of characters, encodings, pages, nesting and permissions.
const { servers, differencesOf } = withPlanting();

const QUESTIONS = '/services/v2/question.json?pageSize=8&page=3';
const NEWEST = '/services/v2/question.json?pageSize=8&page=2&sort=newest';
const IDEAS = '/services/v2/idea.json?pageSize=8&page=2';
const ACTIONS = '/services/v2/action.json?pageSize=20';
const USERS = '/services/v2/group/1/user.json';
const FOLLOWERS = '/services/v2/topic/1/followers.json';

type Change = (json: any, sent: any) => unknown;

const replaceBody = (change: (text: string) => string): Change => {
  return (_, sent) => void (sent.body = Buffer.from(change(sent.body.toString())));
};
const respond = (status: number, text: string, mediaType = 'application/json'): Change => {
  return (_, sent) => void Object.assign(sent, { status, mediaType, body: Buffer.from(text) });
};
const some = (json: any, name: string, least = 1): any => json.list.find((item: any) => item[name].length >= least);

const FAULTS: readonly (readonly [fault: string, target: string, change: Change, found: readonly string[]])[] = [
  // One fault, one difference
  [
    'another author with everything that belongs to them',
    QUESTIONS,
    (j) => {
      const [a, b] = [j.list[0], j.list.find((one: any) => one.author.id !== j.list[0].author.id)];
      [a.author, b.author] = [b.author, a.author];
    },
    ['identity /list/*/author/id'],
  ],
  ['an object without members', IDEAS, () => ({}), ['form ']],
  ['an object around everything', IDEAS, (j) => ({ data: j }), ['form ']],
  ['another object', IDEAS, (j) => void (j.list[0].author = { name: 'ada' }), ['form /list/*/author']],
  [
    'a projection that is ignored',
    `${QUESTIONS}&includeOnly=id,title,author.id`,
    (j) => j.list.forEach((one: any) => Object.assign(one, { score: 1, wiki: false, topics: [] })),
    ['extra /list/*'],
  ],
  [
    'a filter that is ignored',
    '/services/v2/question.json?unanswered=true&pageSize=8',
    (j) => {
      j.list.splice(
        3,
        1,
        ...[1, 2, 3].map((at) => Object.assign(structuredClone(j.list[3]), { id: 987_600 + at, title: `New ${at}` })),
      );
      j.totalCount += 300;
      j.pageCount = Math.ceil(j.totalCount / 8);
      j.listCount = j.list.length;
    },
    ['other-item /list/*'],
  ],
  [
    'the children of another node',
    QUESTIONS,
    (j) => void (some(j, 'childrenIds').childrenIds = [987_001, 987_002, 987_003, 987_004, 987_005, 987_006]),
    ['other-item /list/*/childrenIds/*'],
  ],
  [
    'the first page instead of another',
    '/services/v2/article.json?pageSize=8&page=3',
    (j) => void ((j.page = 1), j.list.forEach((one: any) => (one.id += 500_000))),
    ['count /page'],
  ],
  [
    'fewer items than were requested, which is stated',
    NEWEST,
    (j) =>
      void (
        (j.list = j.list.slice(0, 5)),
        (j.listCount = 5),
        (j.pageSize = 5),
        (j.pageCount = Math.ceil(j.totalCount / 5))
      ),
    ['count /pageSize'],
  ],
  ['no list on the first page', USERS, (j) => void (j.list = null), ['null /list']],
  ['a page in the wrong order, with other items at its end', QUESTIONS, (j) => void j.list.reverse(), ['order /list']],
  // Forms
  [
    'a date without a time',
    ACTIONS,
    (j) => void (j.actions[4].actionDate = j.actions[4].actionDate.slice(0, 10)),
    ['form /actions/*/actionDate'],
  ],
  [
    'a member twice',
    QUESTIONS,
    replaceBody((text) => text.replace('"totalCount":', '"totalCount":7,"totalCount":')),
    ['body '],
  ],
  ['an item whose id is a word', ACTIONS, (j) => void (j.actions[0].id = 'abc'), ['extra-item /actions/*']],
  [
    'an attribute that its value has become',
    QUESTIONS,
    (j) => void (j.list[0].bodyAsHTML = j.list[0].bodyAsHTML.replace('<p>', '<p title="x" onclick="y">')),
    ['value /list/*/bodyAsHTML'],
  ],
  // Characters
  [
    'a letter of another alphabet',
    QUESTIONS,
    (j) => void (j.list[0].title = j.list[0].title.replace(/[aeo]/, 'а')),
    ['value /list/*/title'],
  ],
  ['an invisible character', QUESTIONS, (j) => void (j.list[0].title += '\u200b'), ['value /list/*/title']],
  [
    'a space that does not break',
    QUESTIONS,
    (j) => void (j.list[0].title = j.list[0].title.replace(' ', '\u00a0')),
    ['value /list/*/title'],
  ],
  ['a space at the end', QUESTIONS, (j) => void (j.list[0].author.username += ' '), ['value /list/*/author/username']],
  [
    'capital letters',
    QUESTIONS,
    (j) => void (j.list[0].author.username = j.list[0].author.username.toUpperCase()),
    ['value /list/*/author/username'],
  ],
  [
    'UTF-8 read as Latin-1',
    QUESTIONS,
    (j) => void (j.list[0].body += Buffer.from('é').toString('latin1')),
    ['value /list/*/body'],
  ],
  [
    'a character that was replaced',
    QUESTIONS,
    (j) => void (j.list[0].body = `\ufffd${j.list[0].body.slice(1)}`),
    ['value /list/*/body'],
  ],
  [
    'a text that was cut',
    QUESTIONS,
    (j) => void (j.list[0].body = j.list[0].body.slice(0, -1)),
    ['value /list/*/body'],
  ],
  [
    'line breaks that were lost',
    QUESTIONS,
    (j) => {
      const item = j.list.find(({ body }: any) => !body.includes('<'));
      item.body = item.body.replace(' ', '\n');
    },
    ['value /list/*/body'],
  ],
  // HTML
  [
    'entities that were escaped twice',
    QUESTIONS,
    (j) => void (j.list[0].bodyAsHTML = j.list[0].bodyAsHTML.replace('</p>', '&amp;amp;</p>')),
    ['value /list/*/bodyAsHTML'],
  ],
  [
    'markup that became text',
    QUESTIONS,
    (j) => void (j.list[0].bodyAsHTML = j.list[0].bodyAsHTML.replaceAll('<', '&lt;')),
    ['value /list/*/bodyAsHTML'],
  ],
  [
    'a script in HTML',
    QUESTIONS,
    (j) => void (j.list[0].bodyAsHTML += '<script>x</script>'),
    ['value /list/*/bodyAsHTML'],
  ],
  [
    'an event handler in HTML',
    QUESTIONS,
    (j) => void (j.list[0].bodyAsHTML = j.list[0].bodyAsHTML.replace('<p', '<p onclick="x"')),
    ['value /list/*/bodyAsHTML'],
  ],
  [
    'words that grew together',
    QUESTIONS,
    (j) => void (j.list[0].bodyAsHTML = j.list[0].bodyAsHTML.replace(/(\w) (\w)/, '$1$2')),
    ['value /list/*/bodyAsHTML'],
  ],
  ['no HTML', QUESTIONS, (j) => void (j.list[0].bodyAsHTML = ''), ['form /list/*/bodyAsHTML']],
  ['null for HTML', QUESTIONS, (j) => void (j.list[0].bodyAsHTML = null), ['null /list/*/bodyAsHTML']],
  // Numbers and truth values
  ['1 for true', QUESTIONS, (j) => void (j.list[0].wiki = Number(j.list[0].wiki)), ['type /list/*/wiki']],
  ['a word for a truth value', USERS, (j) => void (j.list[0].active = 'true'), ['type /list/*/active']],
  [
    'a number with an exponent',
    QUESTIONS,
    replaceBody((text) => text.replace(/"creationDate":\d{7}/, '"creationDate":1.5e')),
    ['value /list/*/creationDate'],
  ],
  ['milliseconds that were cut', IDEAS, (j) => void (j.list[0].creationDate += 1), ['value /list/*/creationDate']],
  [
    'a date as text',
    QUESTIONS,
    (j) => void (j.list[0].creationDate = String(j.list[0].creationDate)),
    ['type /list/*/creationDate'],
  ],
  [
    'the beginning of the epoch',
    QUESTIONS,
    (j) => void (j.list[0].creationDateFormatted = '1970-01-01T00:00Z'),
    ['value /list/*/creationDateFormatted'],
  ],
  [
    'a day that does not exist',
    QUESTIONS,
    (j) => void (j.list[0].creationDateFormatted = '2019-02-31T15:01Z'),
    ['form /list/*/creationDateFormatted'],
  ],
  [
    'a zone that is missing',
    ACTIONS,
    (j) => void (j.actions[4].actionDate = j.actions[4].actionDate.replace('+01:00', '')),
    ['value /actions/*/actionDate'],
  ],
  [
    'half a day later',
    USERS,
    (j) =>
      void (j.list[0].creationDateFormatted = j.list[0].creationDateFormatted.replace(
        /T(\d\d)/,
        (_: string, hour: string) => `T${String((Number(hour) + 12) % 24).padStart(2, '0')}`,
      )),
    ['value /list/*/creationDateFormatted'],
  ],
  // Presence and nesting
  ['null for an empty list', QUESTIONS, (j) => void (j.list[0].childrenIds = null), ['null /list/*/childrenIds']],
  ['no empty list', QUESTIONS, (j) => void delete j.list[0].childrenIds, ['missing /list/*/childrenIds']],
  ['a text for a list of one', QUESTIONS, (j) => void (some(j, 'topics').topics = 'java'), ['type /list/*/topics']],
  ['null for an object', QUESTIONS, (j) => void (j.list[0].author = null), ['null /list/*/author']],
  ['an id for an object', QUESTIONS, (j) => void (j.list[0].author = j.list[0].author.id), ['type /list/*/author']],
  [
    'null in a list',
    QUESTIONS,
    (j) => void some(j, 'nodeStates', 0).nodeStates.push(null),
    ['extra-item /list/*/nodeStates/*'],
  ],
  [
    'a realname that nobody asked for',
    QUESTIONS,
    (j) => void (j.list[0].author.email = 'x@example.org'),
    ['extra /list/*/author/email'],
  ],
  ['a list around the envelope', QUESTIONS, (j) => [j], ['type ']],
  ['the items without their envelope', QUESTIONS, (j) => j.list, ['type ']],
  ['null for everything', QUESTIONS, respond(200, 'null'), ['null ']],
  // Lists
  [
    'an id twice in a list',
    QUESTIONS,
    (j) => {
      const { childrenIds } = some(j, 'childrenIds');
      childrenIds.push(childrenIds[0]);
    },
    ['extra-item /list/*/childrenIds/*'],
  ],
  [
    'an id in place of another',
    QUESTIONS,
    (j) => {
      const { childrenIds } = some(j, 'childrenIds', 2);
      childrenIds[1] = childrenIds[0];
    },
    ['other-item /list/*/childrenIds/*'],
  ],
  [
    'ids in another order',
    QUESTIONS,
    (j) => void some(j, 'childrenIds', 2).childrenIds.reverse(),
    ['order /list/*/childrenIds'],
  ],
  ['a list that is sorted the other way round', NEWEST, (j) => void j.list.reverse(), ['order /list']],
  [
    'a list in the order of ids as texts',
    NEWEST,
    (j) => void j.list.sort((a: any, b: any) => (a.title < b.title ? -1 : 1)),
    ['order /list'],
  ],
  // Pages
  ['an empty page', NEWEST, (j) => void ((j.list = []), (j.listCount = 0)), ['missing-item /list/*']],
  ['an empty page without a count', ACTIONS, (j) => void (j.actions = []), ['missing-item /actions/*']],
  ['a page that ends too early', NEWEST, (j) => void (j.list.pop(), (j.listCount -= 1)), ['missing-item /list/*']],
  ['a page that begins too late', NEWEST, (j) => void (j.list.shift(), (j.listCount -= 1)), ['missing-item /list/*']],
  [
    'an item at the end that nobody knows',
    NEWEST,
    (j) => void (j.list[7] = { ...j.list[7], id: 987_654, creationDate: 1 }),
    ['other-item /list/*'],
  ],
  ['a total as text', QUESTIONS, (j) => void (j.totalCount = String(j.totalCount)), ['type /totalCount']],
  ['no total', QUESTIONS, (j) => void delete j.totalCount, ['missing /totalCount']],
  ['null pages', QUESTIONS, (j) => void (j.pageCount = null), ['null /pageCount']],
  ['a total of zero', QUESTIONS, (j) => void (j.totalCount = 0), ['count /totalCount']],
  [
    'the page after the one that was requested',
    NEWEST,
    (j) =>
      void (
        (j.list = j.list.map((one: any, at: number) => ({
          ...one,
          id: 987_600 + at,
          creationDate: one.creationDate - 1e9,
        }))),
        (j.totalCount -= 1)
      ),
    ['other-item /list/*', 'count /totalCount'],
  ],
  // Ids and addresses
  [
    'two authors who changed places',
    QUESTIONS,
    (j) => {
      const [a, b] = [j.list[0], j.list.find((one: any) => one.author.id !== j.list[0].author.id)];
      [a.author.id, b.author.id] = [b.author.id, a.author.id];
    },
    ['identity /list/*/author/id'],
  ],
  [
    'an id with a leading zero',
    QUESTIONS,
    (j) => void (j.list[0].author.id = `0${j.list[0].author.id}`),
    ['identity /list/*/author/id'],
  ],
  [
    'a name in addresses of another thing',
    QUESTIONS,
    (j) => void ([j.list[0].slug, j.list[1].slug] = [j.list[1].slug, j.list[0].slug]),
    ['value /list/*/slug'],
  ],
  [
    'an address with another scheme',
    USERS,
    (j) => void (j.list[0].avatar = j.list[0].avatar.replace('http:', 'https:')),
    ['value /list/*/avatar'],
  ],
  [
    'an address of the old server in HTML',
    QUESTIONS,
    (j) => void (j.list[0].bodyAsHTML += `<a href="${servers().old.url}/x">x</a>`),
    ['address /list/*/bodyAsHTML'],
  ],
  // Messages
  [
    'another charset',
    QUESTIONS,
    (_, sent) => void (sent.mediaType = 'application/json; charset=ISO-8859-1'),
    ['media-type header'],
  ],
  ['no content type', QUESTIONS, (_, sent) => void (sent.mediaType = undefined), ['media-type header']],
  ['a byte order mark', QUESTIONS, replaceBody((text) => `\ufeff${text}`), ['body ']],
  ['an empty body', QUESTIONS, (_, sent) => void (sent.body = Buffer.alloc(0)), ['body ']],
  ['two bodies', QUESTIONS, replaceBody((text) => text + text), ['body ']],
  ['JavaScript around JSON', QUESTIONS, replaceBody((text) => `callback(${text})`), ['body ']],
  ['a failure with the body of a success', QUESTIONS, (_, sent) => void (sent.status = 500), ['status status']],
  ['no content', QUESTIONS, respond(204, ''), ['status status']],
  ['a redirect', QUESTIONS, respond(302, '', 'text/html'), ['status status']],
  [
    'an error of another status',
    '/services/v2/node/999999/comment.json',
    respond(410, '{"error":"gone"}'),
    ['status status'],
  ],
  [
    'a page of HTML for an error',
    '/services/v2/node/999999/comment.json',
    respond(404, '<html>not found</html>', 'text/html'),
    ['error status'],
  ],
  ['an error that was found', '/services/v2/node/999999/comment.json', respond(200, '[]'), ['status status']],
  ['nothing for an error', '/services/v2/node/999999/comment.json', respond(404, ''), ['error status']],
];

describe('a fault on the new server', () => {
  it('is planted in more than 60 ways', () => expect(FAULTS.length).toBeGreaterThanOrEqual(60));

  it.each(FAULTS)('is found: %s', async (_, target, change, expected) => {
    const { counted } = await differencesOf(target, change);
    expect(counted).toEqual(expected);
  });

  it.each([NEWEST, FOLLOWERS])('is not seen where none was planted: %s', async (target) => {
    expect((await differencesOf(target, () => undefined)).counted).toEqual([]);
  });

  it('is not seen in another way to state that JSON is UTF-8', async () => {
    const { counted } = await differencesOf(
      QUESTIONS,
      (_, sent) => void (sent.mediaType = 'application/json;charset=UTF-8'),
    );
    expect(counted).toEqual([]);
  });
});

describe('a rule about noise', () => {
  const noise = ['/list/*/wiki', '/list/*/type', '/list/*/author/username', '/list/*', '/list'].map(
    (at): NoiseRule => ({ operation: 'listQuestions', at, reason: 'r', owner: 'o', until: '2999-12-31' }),
  );

  it.each<[string, Change, string]>([
    ['truth value', (j) => void (j.list[0].wiki = !j.list[0].wiki), 'value /list/*/wiki'],
    ['word of the contract', (j) => void (j.list[0].type = 'idea'), 'value /list/*/type'],
    ['empty text', (j) => void (j.list[0].author.username = '  '), 'form /list/*/author/username'],
    ['page', (j) => void ((j.list = []), (j.listCount = 0)), 'missing-item /list/*'],
    ['order', (j) => void j.list.reverse(), 'order /list'],
  ])('never hides another %s', async (_, change, expected) => {
    expect((await differencesOf(NEWEST, change, { noise })).counted).toContain(expected);
  });
});

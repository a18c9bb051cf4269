import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startReferenceServer, type ReferenceServer } from '../../src/reference/start-reference-server.ts';
import { boundedMemo } from '../../src/lib/bounded-maps.ts';
import { isStatusChange, type LedgerEntry } from '../../src/engine/model/ledger-entry.ts';
import { callAt, type Call } from '../builders/call.ts';
import { type Ids, type OperationCase, OPERATIONS, targetOf } from '../builders/operations.ts';
import { propertyRuns } from '../builders/property-runs.ts';
import { referenceIds } from '../builders/reference-ids.ts';
import { startTestGateway, type TestGateway } from '../builders/test-gateway.ts';

/*
 * The ledger must remain empty when nothing is wrong: a server that follows the contract causes no entries, no
 * matter which caller sends which documented request. The only exceptions are advisories: a few items lack an expected
 * field, and the translation of errors changes some statuses.
 */

/** The expected fields that the reference server sometimes omits, each with its operation id. */
const INCOMPLETE = new Set([
  ...['slug', 'answerCount', 'primaryContainerId'].map((name) => `listQuestions /list/*/${name}`),
  'listActions /actions/*/extra',
  ...['plug', 'reportCount'].map((name) => `listIdeas /list/*/${name}`),
  'listArticles /list/*/slug',
]);

const isIncompleteItem = ({ operation, category, keyword, at }: LedgerEntry) =>
  category === 'advisory' && keyword === 'x-expected' && INCOMPLETE.has(`${operation ?? ''} ${at}`);

/**
 * A status change by the translation of errors is not a violation by the server. If permissions are missing, the server
 * responds with a 401, which becomes a 403. A server without faults causes no other status changes.
 */
const isDenial = (entry: LedgerEntry) => isStatusChange(entry) && entry.keyword === 'upstream_permission_denied';

const isExpected = (entry: LedgerEntry) => isIncompleteItem(entry) || isDenial(entry);

let reference: ReferenceServer;
let ids: Ids;
let nodes: readonly string[];
/** Comments that only their author and recipients may see. */
let hidden: readonly string[];
let strict: TestGateway;
beforeAll(async () => {
  reference = await startReferenceServer();
  ids = await referenceIds(reference.url);
  const page = await callAt(reference.url, '/services/v2/question.json?pageSize=100');
  // The permission rules are the same in every mode, but only `strict` mode enforces them.
  strict = await startTestGateway({ upstream: reference });
  const privately = [
    { body: 'Between us.', visibility: 'recipients', recipients: [] },
    { body: 'For moderators.', visibility: 'moderators' },
  ];
  hidden = await Promise.all(privately.map(async (body) => String((await commentOn(ids.node, body)).json['id'])));
  nodes = (page.json.list as unknown as readonly { id: number }[]).map(({ id }) => String(id));
});
afterAll(() => reference.close());

const commentOn = (node: string, body: unknown) =>
  callAt(reference.url, `/services/v2/node/${node}/comment.json`, { user: 'admin', method: 'POST', body });

const ACCOUNTS = ['admin', 'moderator', 'alice', 'bob', 'guest'];

const PAGES = [
  '',
  'page=1',
  'pageSize=1',
  'pageSize=7&page=2',
  'pageSize=100',
  'sort=newest',
  'sort=nonsense&pageSize=5',
];
const PARTS = [
  'includeOnly=id',
  'includeOnly=id,author.username,topics.name',
  'exclude=body,bodyAsHTML',
  'exclude=author',
  'include=id,author',
  'include=favoriteCount,followerCount',
];
const ODD = ['wrap=true', 'v1=true', 'wrap=1&v1=1'];
const SEARCH = ['q=build', 'q=two+words*', 'q=nothing-has-this', 'type=question', 'lang=en'];
const QUESTIONS = [
  'topics=build',
  'topics=a%2Cb&topics=c',
  'unanswered=true',
  'unanswered=false',
  'spaceId=1',
  'spaceId=999',
];
const FOLLOWERS = ['details=true', 'details=false', 'active=false', 'active=true&details=true', 'page=0'];

/** Documented queries for each operation. The other operations are read without a query. */
const QUERIES: Readonly<Record<string, readonly string[]>> = {
  getComment: ['', ...PARTS, ...ODD],
  listQuestions: [...PAGES, ...PARTS, ...ODD, ...SEARCH, ...QUESTIONS],
  listActions: [...PAGES, ...PARTS, ...ODD, 'page=3&pageSize=50'],
  listIdeas: [...PAGES, ...PARTS, ...ODD, ...SEARCH],
  listGroupUsers: [...PAGES, ...PARTS, ...ODD, 'sort=username'],
  listTopicFollowers: [...PAGES.slice(0, 3), ...PARTS, ...ODD, ...FOLLOWERS],
  listNodeFollowers: [...PAGES.slice(0, 3), ...PARTS, ...ODD, ...FOLLOWERS],
  listArticles: ['', 'page=1', 'pageSize=3&page=2', ...ODD],
  listExpertise: ['', ...ODD],
  listAnswerComments: ['', ...ODD],
};

/** Returns several sets of ids for an operation. Some of the ids do not exist and cause a documented error. */
const variantsOf = (operation: OperationCase): readonly Ids[] => {
  if (/^list(?:NodeComments|NodeFollowers)$/.test(operation.id))
    return [...nodes.slice(0, 4), ...hidden].map((node) => Object.assign({}, ids, { node }));
  if (operation.id === 'getComment') return hidden.map((comment) => Object.assign({}, ids, { comment })).concat([ids]);
  if (operation.id === 'getGdprJob')
    return ['1', '2', '3', '4', '999999'].map((job) => Object.assign({}, ids, { job }));
  return [ids];
};

/** Returns the accounts for which both the permissions and the page bounds allow a read. They are the same in all modes. */
const readersOf = boundedMemo(10_000, async (target: string) => {
  const verdicts = await Promise.all(
    ACCOUNTS.map(async (as) => {
      const steps = await strict.gateway.explain({ method: 'GET', target, as });
      return steps.some(({ name, text }) => name === 'verdict' && /^(?:forwarded|served)/.test(text)) ? [as] : [];
    }),
  );
  return verdicts.flat();
});

async function askAll(
  gateway: TestGateway,
  targets: readonly (readonly [target: string, call: Call])[],
): Promise<number> {
  const waiting = [...targets];
  const ask = async (): Promise<void> => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) await gateway.call(...next);
  };
  await Promise.all(Array.from({ length: 8 }, ask));
  return targets.length;
}

const once = (target: string, call: Call): readonly [target: string, call: Call] => [target, call];

let turn = 0;

/** Returns up to `most` accounts, beginning with a different one each time. */
function inTurn(accounts: readonly string[], most: number): string[] {
  const first = (turn += 1) % Math.max(1, accounts.length);
  return [...accounts.slice(first), ...accounts.slice(0, first)].slice(0, most);
}

/** Determines how many documented reads a test sends. */
interface Extent {
  /** The maximum number of accounts that send each read. They are chosen in turn from the permitted accounts. */
  readonly accounts: number;
  /**
   * True if every query is sent for every set of ids. False if only the first query is sent for every set, and each of
   * the others for a single set.
   */
  readonly everywhere: boolean;
}

/**
 * Returns the documented reads. The last account sends the first query twice, so that the second response is a
 * remembered or cached one, and a HEAD request follows. If `everywhere` is true, every query is repeated in this way.
 */
async function allReads({ accounts, everywhere }: Extent): Promise<(readonly [target: string, call: Call])[]> {
  const reads: (readonly [target: string, call: Call])[] = [];
  for (const operation of OPERATIONS.filter(({ method }) => method === 'GET'))
    for (const [variant, own] of variantsOf(operation).entries()) {
      const queries = (QUERIES[operation.id] ?? ['']).filter((_, query) => everywhere || query === 0 || variant === 0);
      for (const [index, query] of queries.entries()) {
        const target = targetOf(operation, query, own);
        const asked = inTurn(await readersOf(target), accounts).map((user) => once(target, { user }));
        const isRepeated = everywhere || index === 0;
        reads.push(...asked, ...(isRepeated ? [...asked.slice(-1), once(target, { method: 'HEAD' })] : []));
      }
    }
  return reads;
}

/** Sends the write operations for a few nodes. If a write ends a state, first puts the node into that state. */
async function writeAll(gateway: TestGateway): Promise<number> {
  let count = 0;
  const put = (target: string, user: string, method = 'PUT', body?: unknown) => {
    count += 1;
    return gateway.call(target, {
      user,
      method,
      headers: { 'Portico-Force': 'true' },
      ...(body !== undefined && { body }),
    });
  };
  for (const node of nodes.slice(0, 8)) {
    const path = `/services/v2/node/${node}`;
    for (const name of ['markfavorite', 'wiki']) await callAt(reference.url, `${path}/${name}.json`, { method: 'PUT' });
    await put(`${path}/unmarkfavorite.json`, 'admin');
    await put(`${path}/cancelwiki.json?wrap=true`, 'admin');
    const made = await put(`${path}/comment.json`, 'admin', 'POST', {
      body: 'Well.',
      visibility: 'recipients',
      recipients: [],
    });
    await put(`/services/v2/comment/${String(made.json['id'])}.json`, 'admin', 'PUT', { body: 'Better.' });
    await put(`/services/v2/issuetracker/node/${node}/issue/10001/attachments.json`, 'admin', 'POST');
    await put('/services/v2/users/gdpr/upload.json', 'admin', 'POST', { content: 'userId,username\n,alice\n' });
  }
  return count;
}

describe('a server without chaos, in observe mode', () => {
  it('causes no response violations, even if callers cause some', async () => {
    const gateway = await startTestGateway({ upstream: reference, config: { mode: 'observe' } });
    const callers: readonly Call[] = [{ user: null }, { user: 'alice', password: 'wrong' }, { user: 'guest' }];
    const asked = OPERATIONS.flatMap((operation) =>
      callers.map((caller) => once(targetOf(operation, '', ids), { ...caller, method: operation.method })),
    );
    expect(await askAll(gateway, asked)).toBe(OPERATIONS.length * callers.length);
    const { entries } = await gateway.gateway.services.records.snapshot();
    const responses = entries.filter((entry) => entry.direction === 'response' && !isExpected(entry));
    expect(responses.map(({ operation, status, keyword, at }) => [operation, status, keyword, at])).toEqual([]);
    await gateway.close();
  });
});

// An account sees the same data in every mode, so every query is sent for every set of ids in only one mode.
describe.each([
  ['strict', {}, { accounts: propertyRuns(2), everywhere: true }],
  ['staging', { cache: { enabled: false } }, { accounts: propertyRuns(1), everywhere: false }],
  ['observe', {}, { accounts: propertyRuns(1), everywhere: false }],
] as const)('a server without chaos, in %s', (mode, more, extent) => {
  it('leaves only advisories about absent fields and changed statuses in the ledger after many requests over all operations', async () => {
    const gateway = await startTestGateway({ upstream: reference, config: { mode, ...more } });
    const asked = (await askAll(gateway, await allReads(extent))) + (await writeAll(gateway));
    expect(asked).toBeGreaterThan(200);
    const { entries, traffic } = await gateway.gateway.services.records.snapshot();
    const others = entries.filter((entry) => !isExpected(entry));
    expect(entries.some(isIncompleteItem)).toBe(true);
    expect(
      others.map(({ operation, direction, status, keyword, at }) => [operation, direction, status, keyword, at]),
    ).toEqual([]);
    expect(new Set(traffic.map(({ operation }) => operation))).toEqual(new Set(OPERATIONS.map(({ id }) => id)));
    await gateway.close();
  });
});

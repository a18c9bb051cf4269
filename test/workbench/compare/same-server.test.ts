import { describe, expect, it } from 'vitest';
import type { ServerResponse } from '../../../src/comparison/comparator.ts';
import { createWalkSource } from '../../../src/workbench/compare/sources/walk-source.ts';
import { basic } from '../../builders/call.ts';
import { propertyRuns } from '../../builders/property-runs.ts';
import { contract } from '../../builders/compiled-contract.ts';
import {
  callerOf,
  comparatorFor,
  compareAt,
  readTarget,
  SETTINGS,
  tallyOf,
  withTwoServers,
  wordsOf,
} from './two-servers.ts';

const servers = withTwoServers();
const ROLES = ['admin', 'moderator', 'alice', 'bob', 'guest', 'anonymous'];

const walk = (maxRequests: number, groups = ['1', '2', '3'], allPages = false) =>
  createWalkSource({
    operations: contract.operations,
    exploration: SETTINGS.profile.exploration,
    ids: new Map([['groupId', groups]]),
    maxRequests,
    allPages,
  });

/** The number of exchanges: 50,000 in a long run. */
const EXCHANGES = propertyRuns(5_000);

describe('a server compared with itself', () => {
  it('has no difference in any number of exchanges, although its views change with each request', async () => {
    const server = servers().new;
    const { comparator } = comparatorFor({ old: server.url, new: server.url }, { ids: 'same' });
    const tally = tallyOf();
    const targets = await targetsOf(server.url);
    expect(targets.length).toBeGreaterThan(100);
    // Each request is sent at three times, between which views have been counted. Any two responses are compared.
    const samples: (readonly [target: string, role: string, responses: ServerResponse[]])[] = targets.map(
      (target, at) => [target, at % 2 === 0 ? 'admin' : (ROLES[(at >> 1) % ROLES.length] ?? ''), []],
    );
    for (let round = 0; round < 3; round += 1)
      for (const [target, role, responses] of samples) {
        const { status, type, text } = server.respond(target, role === 'anonymous' ? undefined : basic(role));
        responses.push({ status, mediaType: type, body: Buffer.from(text) });
      }
    for (let at = 0; at < EXCHANGES; at += 1) {
      const [target = '', role = '', responses = []] = samples[at % samples.length] ?? [];
      const { operation, parameters } = readTarget(target);
      const round = Math.floor(at / samples.length);
      const [old, next] = [responses[round % 3], responses[(round + 1 + (round % 2)) % 3]];
      if (old === undefined || next === undefined) throw new Error('there is a response for each round');
      const result = comparator.compare({ operation, parameters, target, role, old, new: next });
      result.accept();
      tally.take(result, false);
    }
    for (const late of comparator.settle()) tally.takeLate(late);
    const { equal, muted, different, exchanges, equivalences } = tally.counts();
    expect(wordsOf(tally.differences())).toEqual([]);
    expect({ different, exchanges, sum: equal + muted }).toEqual({
      different: 0,
      exchanges: EXCHANGES,
      sum: EXCHANGES,
    });
    // The views have been compared, and really differ.
    expect(muted).toBeGreaterThan(EXCHANGES / 20);
    expect(equivalences['paired id']).toBeUndefined();
  }, 900_000);

  it('has no difference over sockets, for several callers', async () => {
    const { old } = servers();
    const { counts, found, run } = await compareAt({ old: old.url, new: old.url }, walk(60), {
      ids: 'same',
      callers: ROLES.map(callerOf),
      askAgainAfterMs: undefined,
    });
    expect(wordsOf(found)).toEqual([]);
    expect(run.ended).toBe('complete');
    const { exchanges, equal, muted, different, notComparable, notMade } = counts;
    expect(equal + muted + different + notComparable + notMade).toBe(exchanges);
    expect({ different, muted, notComparable }).toEqual({ different: 0, muted: 0, notComparable: 0 });
  }, 60_000);
});

describe('an independent server with the same data', () => {
  it('has no difference for any caller, and what is written otherwise is counted by name', async () => {
    const { old, new: next } = servers();
    const { counts, found, run } = await compareAt({ old: old.url, new: next.url }, walk(150), {
      callers: ROLES.map(callerOf),
    });
    expect(wordsOf(found)).toEqual([]);
    expect(run.ended).toBe('complete');
    expect(counts.different).toBe(0);
    expect(counts.notComparable).toBe(0);
    for (const name of [
      'paired id',
      'id as text or number',
      'alias',
      'number form',
      'date form',
      'HTML form',
      'own address',
    ] as const)
      expect([name, (counts.equivalences[name] ?? 0) > 0]).toEqual([name, true]);
    expect(counts.equivalences['first page 0 or 1']).toBeGreaterThan(0);
    expect(counts.equivalences['error form']).toBeGreaterThan(0);
    expect(counts.equivalences['order of equal sort keys']).toBeGreaterThan(0);
  }, 120_000);

  it('leaks if it shows private comments to everybody, to each role that they are hidden from', async () => {
    const { old, new: next } = servers();
    next.showsPrivate = true;
    const operations = contract.operations.filter(({ id }) =>
      ['listQuestions', 'listNodeComments', 'getComment'].includes(id),
    );
    const source = createWalkSource({
      operations,
      exploration: { ...SETTINGS.profile.exploration, variationsOf: () => [] },
      ids: await privateIds(old.url),
      maxRequests: 60,
      allPages: false,
    });
    const { found } = await compareAt({ old: old.url, new: next.url }, source, {
      callers: ['admin', 'bob'].map(callerOf),
    });
    next.showsPrivate = false;
    const leaks = found.filter(({ isLeak }) => isLeak);
    expect(leaks.length).toBeGreaterThan(0);
    expect(new Set(leaks.flatMap(({ roles }) => roles))).toEqual(new Set(['bob']));
    expect(leaks.map(({ entry }) => entry.operation)).toContain('getComment');
  }, 60_000);

  it('leaves nothing undecided if all pages are compared', async () => {
    const { old, new: next } = servers();
    const operations = contract.operations.filter(({ id }) => id === 'listArticles');
    const source = createWalkSource({
      operations,
      exploration: { ...SETTINGS.profile.exploration, variationsOf: () => [] },
      ids: new Map(),
      maxRequests: 1000,
      allPages: true,
    });
    const { counts, found, comparator } = await compareAt({ old: old.url, new: next.url }, source);
    expect(wordsOf(found)).toEqual([]);
    expect(counts.equal + counts.muted).toBe(counts.exchanges);
    expect(comparator.undecided()).toBe(0);
  }, 60_000);
});

/** Returns the targets of a walk over a server. */
async function targetsOf(url: string): Promise<readonly string[]> {
  const source = walk(130, ['100001', '100002']);
  const targets: string[] = [];
  const recording = {
    ...source,
    next: async () => {
      const item = await source.next();
      if (item !== undefined && 'target' in item) targets.push(item.target);
      return item;
    },
  };
  await compareAt({ old: url, new: url }, recording, { ids: 'same', askAgainAfterMs: undefined, concurrency: 1 });
  return targets;
}

/** Returns the ids of comments that only some callers may see, and of the nodes that they are on. */
async function privateIds(url: string): Promise<ReadonlyMap<string, readonly string[]>> {
  const get = async (target: string, role: string) => {
    const authorization = callerOf(role).old ?? '';
    return (await (await fetch(`${url}/services/v2/${target}`, { headers: { authorization } })).json()) as {
      readonly list: readonly { readonly id: number; readonly commentIds: readonly number[] }[];
    };
  };
  const [all, some] = await Promise.all(
    ['admin', 'bob'].map((role) => get('question.json?pageSize=300&includeOnly=id,commentIds', role)),
  );
  const hidden = (all?.list ?? []).flatMap(({ id, commentIds }) => {
    const seen = new Set(some?.list.find((one) => one.id === id)?.commentIds);
    return commentIds.filter((comment) => !seen.has(comment)).map((comment) => [String(id), String(comment)] as const);
  });
  return new Map([
    ['nodeId', hidden.map(([node]) => node).slice(0, 10)],
    ['commentId', hidden.map(([, comment]) => comment).slice(0, 10)],
  ]);
}

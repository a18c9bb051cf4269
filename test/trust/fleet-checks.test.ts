import { describe, expect, it } from 'vitest';
import { cacheResult, countFills, createStaleness, leaksOf } from '../../tools/fleet/checks.ts';
import { differencesOf, valuesOf } from '../../tools/fleet/compare.ts';
import type { FillEvent, ReadEvent, WriteEvent } from '../../tools/fleet/events.ts';
import { commandsIn } from '../../tools/fleet/run-fleet.ts';
import { repeatedIn } from '../../tools/fleet/programs.ts';
import { largestFleet, needsOf, readResults, withTables } from '../../tools/fleet/scale-page.ts';
import { simulateFleet, type SimulationSettings } from '../../tools/fleet/simulate.ts';
import { createWorkload, mayRequest } from '../../tools/fleet/workload.ts';
import { readText } from '../readme/tables.ts';

const workload = createWorkload();
const tagsOf = (page: number) => workload.pages[page]?.tags ?? [];
const settings: SimulationSettings = {
  gateways: 3,
  perSecond: 200,
  writeShare: 0.01,
  seed: 7,
  seconds: 8,
  warmUpSeconds: 3,
  freshMs: 2000,
  staleMs: 1000,
  earlyRefresh: 0.1,
  upstreamMs: [20, 60],
  redisMs: 0.5,
  arrivalMs: 2,
  idleCommandsPerSecond: 10,
};
const simulated = await simulateFleet(workload, settings);
const { reads, writes, fills } = simulated.events;
const everything = { from: 0, to: Infinity };
const count = (all: readonly FillEvent[]) =>
  countFills(all, writes, [everything], tagsOf, { freshMs: settings.freshMs * 0.9, purgeSlackMs: 250 });

describe('the simulation of a fleet', () => {
  it('returns the same result for the same seed, and another one for another seed', async () => {
    expect(await simulateFleet(workload, settings)).toEqual(simulated);
    const other = await simulateFleet(workload, { ...settings, seed: 8 });
    expect(other.events.reads).not.toEqual(reads);
  });

  it('serves reads from memory, from Redis and from the upstream', () => {
    expect(reads.length).toBeGreaterThan(500);
    expect(simulated.memoryHits).toBeGreaterThan(0.1);
    expect(simulated.sharedHits).toBeGreaterThan(0.05);
    expect(simulated.memoryHits + simulated.sharedHits).toBeLessThan(1);
    expect(simulated.fetches).toBe(fills.length);
  });

  it('fetches each page once per period, shows no page of another caller, and no page older than a purge takes', () => {
    const counts = count(fills);
    expect(counts).toMatchObject({ excess: [], excessAtPurges: [], mostPerPeriod: 1 });
    expect(leaksOf(reads)).toEqual([]);
    const staleness = createStaleness(writes, tagsOf);
    expect(Math.max(...reads.map(staleness))).toBeLessThan(settings.arrivalMs + 5);
  });

  it('sends commands for arrivals in proportion to the number of gateways', async () => {
    const more = await simulateFleet(workload, { ...settings, gateways: 6 });
    expect(more.commands.arrival / more.writes).toBeCloseTo((2 * simulated.commands.arrival) / simulated.writes, 5);
    expect(more.sharedHits).toBeGreaterThan(simulated.sharedHits);
  });
});

// Without these tests, nobody would notice a broken check: it would report no failures, just as for a healthy fleet.
describe('the checks of a fleet', () => {
  it('find a planted outdated read, and measure how old it was', () => {
    const write = writes[0] as WriteEvent;
    const page = workload.pages.findIndex(({ tags }) => tags.some((tag) => write.tags.includes(tag)));
    const staleness = createStaleness(writes, tagsOf);
    const read = { page, startedAt: write.respondedAt + 700 };
    const seen = { audience: 'all', page };
    expect(staleness({ ...read, seen: { ...seen, version: write.number - 1 } })).toBe(700);
    expect(staleness({ ...read, seen: { ...seen, version: Infinity } })).toBe(0);
    // A read that began before the response to the write may show either version.
    const early = { page, startedAt: write.respondedAt - 1, seen: { ...seen, version: write.number - 1 } };
    expect(staleness(early)).toBeLessThanOrEqual(0);
    const unaffected = workload.pages.findIndex(({ tags }) => !tags.some((tag) => write.tags.includes(tag)));
    expect(staleness({ ...read, page: unaffected, seen: { ...seen, version: 0 } })).toBe(0);
  });

  it('find a planted page of another caller', () => {
    const [read] = reads as [ReadEvent];
    const leak: ReadEvent = { ...read, seen: { ...read.seen, audience: 'member5' }, audience: 'member4' };
    expect(leaksOf([...reads, leak])).toEqual([leak]);
  });

  it('find a planted second fetch of a fresh page', () => {
    const fill = fills.find(({ page }) => tagsOf(page).every((tag) => !writes.some((one) => one.tags.includes(tag))));
    const second: FillEvent = { ...(fill as FillEvent), at: (fill as FillEvent).at + 500 };
    const counts = count([...fills, second]);
    expect(counts.excess).toHaveLength(1);
    expect(counts.mostPerPeriod).toBe(2);
    expect(counts.periods).toBe(fills.length);
  });

  it('find a planted second fetch after one purge, and accept the first', () => {
    const purge = { number: 1, tags: ['questions'], effectAt: 1000, respondedAt: 1020 };
    const page = workload.pages.findIndex(({ operation }) => operation === 'listQuestions');
    const at = (instant: number): FillEvent => ({ at: instant, page, audience: 'member0', version: 0 });
    const judged = (...instants: readonly number[]) =>
      countFills(instants.map(at), [purge], [everything], tagsOf, { freshMs: 5000, purgeSlackMs: 100 });
    expect(judged(0, 1025)).toMatchObject({ periods: 2, excess: [], excessAtPurges: [] });
    expect(judged(0, 1025, 1030)).toMatchObject({
      periods: 2,
      excess: [],
      excessAtPurges: [at(1030)],
      mostPerPeriod: 2,
    });
    // The purge can arrive as late as 1,120 ms after the start, so it may remove the page stored by the second fetch.
    expect(judged(0, 1025, 2000)).toMatchObject({ periods: 2, excess: [], excessAtPurges: [at(2000)] });
    expect(judged(0, 1125, 2000)).toMatchObject({ periods: 2, excess: [at(2000)], excessAtPurges: [] });
    expect(judged(0, 5000)).toMatchObject({ periods: 2, excess: [], excessAtPurges: [] });
    expect(judged(1200, 1300)).toMatchObject({ periods: 1, excess: [at(1300)] });
  });

  it.each([
    ['portico; hit; ttl=4', 'memory'],
    ['portico; hit; ttl=4; detail=shared', 'shared'],
    ['portico; fwd=miss; stored', 'fetched'],
    ['portico; fwd=miss; collapsed', 'collapsed'],
  ])('read the Cache-Status header %s as %s', (header, result) => {
    expect(cacheResult(header)).toBe(result);
  });

  it('count the commands of Redis without their own', () => {
    const text = 'cmdstat_get:calls=12,usec=3\r\ncmdstat_info:calls=2,usec=9\r\ncmdstat_client|list:calls=1,usec=1\r\n';
    expect([...commandsIn(text)]).toEqual([
      ['get', 12],
      ['client|list', 1],
    ]);
  });

  it('count the requests that HAProxy repeated', () => {
    const csv =
      '# pxname,svname,qcur,wretr,wredis\ngateways,gateway0,0,2,1\ngateways,gateway1,0,3,0\ngateways,BACKEND,0,5,1\n';
    expect(repeatedIn(csv)).toBe(5);
  });

  it('report a value of the simulation that differs by more than 15%', () => {
    const measured = valuesOf(simulated, workload, { freshSeconds: 2, earlyRefresh: 0.1, seconds: 8 });
    const point = { gateways: 3, requestsPerSecond: 200, measured };
    expect(differencesOf([{ ...point, simulated: { ...measured, hitRatio: measured.hitRatio * 1.14 } }])).toEqual([]);
    expect(differencesOf([{ ...point, simulated: { ...measured, hitRatio: measured.hitRatio * 1.16 } }])).toHaveLength(
      1,
    );
  });
});

describe('the workload of a fleet', () => {
  it('takes its tags and permissions from the contract', () => {
    const question = workload.pages.find(({ operation }) => operation === 'listQuestions');
    expect(question).toMatchObject({ tags: ['questions'], permissions: ['View the questions list'] });
    const comment = workload.writes.find(({ operation }) => operation === 'createComment');
    expect(comment?.tags).toContain('questions');
  });

  it('has requests that some accounts may make and others may not', () => {
    for (const one of [...workload.pages, ...workload.writes]) {
      expect(workload.accounts.some((account) => mayRequest(account, one))).toBe(true);
      expect(workload.accounts.every((account) => mayRequest(account, one))).toBe(false);
    }
  });
});

describe('the page docs/scale.md', () => {
  it('has the tables of the stored results', () => {
    expect(withTables(readText('docs/scale.md'), readResults())).toBe(readText('docs/scale.md'));
  });

  it('explains every bound that did not hold', () => {
    const broken = readResults().run?.rows.filter(({ holds }) => holds === false) ?? [];
    const page = readText('docs/scale.md');
    expect(broken.filter(({ what }) => !page.includes(`- ${what}: `))).toEqual([]);
  });

  it('computes the needs of a fleet with the formulas of the page', () => {
    const fleet = {
      gateways: 10,
      callers: 100_000,
      requestsPerSecond: 1000,
      writesPerSecond: 5,
      memoryHits: 0.5,
      sharedHits: 0.2,
      fetchesPerSecond: 300,
      commandsPerSecond: { idle: 100, record: 2000, page: 7000, purge: 20, arrival: 880 },
    };
    const inputs = {
      gatewayCpuUsPerRequest: 500,
      redisCpuUsPerCommand: 20,
      gatewayBytes: 100_000_000,
      pageBytes: 500,
      pageSeconds: 20,
    };
    const needs = needsOf(fleet, inputs);
    expect(needs).toMatchObject({
      commandsPerSecond: 10_000,
      gatewayCores: 0.05,
      redisCores: 0.2,
      // Each gateway receives 100 requests per second. The responses to half of them are stored for 20 seconds and take
      // 2,000 bytes each.
      gatewayBytes: 102_000_000,
      redisBytes: 12_000_000,
      saturatesFirst: 'Redis (pages and locks)',
    });
    // The fleet needs half a core for each gateway, one core for Redis, and memory for both. A fleet of g gateways
    // sends 912 g + 8.8 g² commands per second, and one core can execute 50,000.
    expect(largestFleet(fleet, inputs)).toBe(39);
    expect(needs.dollarsPerMonth).toBeCloseTo(6 * 30 + ((10 * 102e6 + 2 * 12e6) / 2 ** 30) * 4, 5);
  });
});

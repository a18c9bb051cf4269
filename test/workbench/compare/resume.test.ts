import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readCapture } from '../../../src/workbench/captures/read-capture.ts';
import { readCompareState, writeCompareState } from '../../../src/workbench/compare/resume.ts';
import { createCaptureSource } from '../../../src/workbench/compare/sources/capture-source.ts';
import { coverageOf } from '../../../src/workbench/compare/compare-lines.ts';
import { createWalkSource } from '../../../src/workbench/compare/sources/walk-source.ts';
import { cleanUpAfterTest } from '../../builders/clean-up.ts';
import { contract } from '../../builders/compiled-contract.ts';
import { tempFolder } from '../../builders/temp-folder.ts';
import {
  callerOf,
  comparatorFor,
  compareAt,
  listSource,
  type SavedRun,
  SETTINGS,
  tallyOf,
  wordsOf,
} from './two-servers.ts';

const folder = tempFolder();

/** What is in the file after a run. */
const written = (saved: SavedRun) => JSON.parse(JSON.stringify(saved)) as SavedRun;

describe('the file from which a comparison continues', () => {
  it('belongs to one comparison', () => {
    const file = join(folder, 'state.json');
    const subject = { OLD: 'https://a.example', '--ids': 'learn' };
    expect(readCompareState(file, subject)).toBeUndefined();
    const tally = tallyOf();
    const { comparator } = comparatorFor({ old: 'http://a.example', new: 'http://b.example' });
    tally.notMade('asked already', 3);
    writeCompareState(file, {
      subject,
      position: 7,
      unfinished: [],
      tally: tally.save(),
      comparison: comparator.save(),
    });
    const state = readCompareState(file, subject);
    expect(state?.position).toBe(7);
    expect(tallyOf(state?.tally).counts()).toMatchObject({
      exchanges: 3,
      notMade: 3,
      notMadeBecause: { 'asked already': 3 },
    });
    const other = { ...subject, '--ids': 'same' };
    expect(() => readCompareState(file, other)).toThrow('it belongs to another comparison (--ids)');
    writeFileSync(file, '{"version":9}');
    expect(() => readCompareState(file, subject)).toThrow('another version');
  });
});

describe('a comparison that was interrupted', () => {
  /** Starts a server that responds to each request in its own way, and can tell that it has got one. */
  async function serve(isNew: boolean, onRequest: () => void): Promise<string> {
    const server = createServer((request, response) => {
      onRequest();
      const page = Number(/page=(\d+)/.exec(request.url ?? '')?.[1]);
      const verb = isNew && page % 7 === 0 ? 'liked' : 'commented';
      const text = JSON.stringify({ actions: [{ id: page, verb, extra: null }], moreResults: 1 });
      const respond = () => void response.writeHead(200, { 'content-type': 'application/json' }).end(text);
      // Responses arrive in another order than the requests.
      if (page % 5 === 0) setImmediate(() => setImmediate(respond));
      else respond();
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    cleanUpAfterTest(() => {
      server.closeAllConnections();
      server.close();
    });
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }
  const log = join(folder, 'access.log');
  const line = (at: number) =>
    `- "${at % 11 === 0 ? 'POST' : 'GET'} /services/v2/action.json?page=${at % 130} HTTP/1.1"`;
  writeFileSync(log, Array.from({ length: 260 }, (_, at) => (at % 10 === 0 ? '\n' : '') + line(at)).join('\n'));

  let requests = 0;
  let onRequest: () => void = () => undefined;
  const run = async (urls: { old: string; new: string }, saved: SavedRun | undefined, stopAt = Infinity) => {
    const checkpoints: SavedRun[] = [];
    const controller = new AbortController();
    requests = 0;
    onRequest = () => {
      requests += 1;
      if (requests === stopAt) controller.abort();
    };
    const entries = readCapture(log, '/services/v2/');
    const source = await createCaptureSource({ entries, repeats: false }, saved?.position);
    // The source has counted an item some time before it arrives.
    const next = async () => {
      const item = await source.next();
      await new Promise(setImmediate);
      return item;
    };
    const { counts, found, comparator } = await compareAt(
      urls,
      { ...source, next },
      {
        ids: 'same',
        concurrency: 5,
        callers: ['admin', 'bob'].map(callerOf),
        signal: controller.signal,
        saved,
        onCheckpoint: (one) => checkpoints.push(written(one)),
      },
    );
    const pairs = coverageOf(comparator);
    return {
      result: { counts, found: wordsOf(found), differ: found.map(({ entry }) => entry.count), pairs },
      checkpoints,
    };
  };
  const start = async () => ({
    old: await serve(false, () => onRequest()),
    new: await serve(true, () => onRequest()),
  });

  it('ends with the same counts and differences as one that was not', async () => {
    const urls = await start();
    const { result: whole } = await run(urls, undefined);
    expect(whole.counts).toMatchObject({ exchanges: 520, notComparable: 0 });
    expect(whole.counts.different).toBeGreaterThan(20);
    for (const stopAt of [1, 37, 139, 301]) {
      const first = await run(urls, undefined, stopAt);
      const second = await run(urls, first.checkpoints.at(-1), stopAt);
      const { result } = await run(urls, second.checkpoints.at(-1));
      expect(result, `interrupted at request ${stopAt}`).toEqual(whole);
    }
  });

  it('continues from any earlier state, too, as after the end of its process', async () => {
    const urls = await start();
    const { result: whole, checkpoints } = await run(urls, undefined);
    expect(checkpoints.length).toBeGreaterThan(2);
    expect(checkpoints[0]?.unfinished.length).toBeGreaterThan(0);
    for (const saved of checkpoints) expect((await run(urls, saved)).result).toEqual(whole);
  });
});

describe('a checkpoint', () => {
  it('contains each item that the source has passed on as counted or as unfinished', async () => {
    const server = createServer((_, response) => void setImmediate(() => response.writeHead(404).end()));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    cleanUpAfterTest(() => {
      server.closeAllConnections();
      server.close();
    });
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const source = listSource(Array.from({ length: 1050 }, (_, at) => `/services/v2/action.json?page=${at + 1}`));
    const next = async () => {
      const item = await source.next();
      for (let turn = 0; turn < 5; turn += 1) await new Promise(setImmediate);
      return item;
    };
    const saved: SavedRun[] = [];
    await compareAt(
      { old: url, new: url },
      { ...source, next },
      {
        ids: 'same',
        concurrency: 8,
        askAgainAfterMs: undefined,
        onCheckpoint: (one) => saved.push(written(one)),
      },
    );
    expect(saved).toHaveLength(11);
    for (const { position, tally, unfinished } of saved)
      expect(tally.counts.exchanges + unfinished.length).toBe(position);
  });
});

describe('a walk that was interrupted', () => {
  it('sends the same requests as one that was not', async () => {
    const walk = (saved?: unknown) =>
      createWalkSource(
        {
          operations: contract.operations,
          exploration: SETTINGS.profile.exploration,
          ids: new Map(),
          maxRequests: 60,
          targets: ['/other'],
          allPages: true,
        },
        saved === undefined ? undefined : JSON.parse(JSON.stringify(saved)),
      );
    const body = Buffer.from(
      JSON.stringify({
        pageCount: 3,
        pageSize: 2,
        totalCount: 6,
        list: [3, 4].map((id) => ({ id, type: 'question', author: { id: id + 10 }, topics: [{ id: 7, name: 'a' }] })),
      }),
    );
    const follow = async (source: ReturnType<typeof walk>, count: number) => {
      const targets: string[] = [];
      while (targets.length < count) {
        const item = await source.next();
        if (item === undefined || 'notMade' in item) break;
        targets.push(item.target);
        source.learn(item, { status: 200, mediaType: 'application/json', body });
      }
      return targets;
    };
    const whole = await follow(walk(), Infinity);
    expect(whole).toHaveLength(61);
    for (const count of [0, 1, 9, 30, 59, 60]) {
      const first = walk();
      const begun = await follow(first, count);
      const second = walk(first.position());
      expect(second.left()).toBe(first.left());
      expect([...begun, ...(await follow(second, Infinity))]).toEqual(whole);
    }
  });
});

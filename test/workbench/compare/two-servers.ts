import { join } from 'node:path';
import { afterAll, beforeAll } from 'vitest';
import { loadSettings } from '../../../src/portico-settings.ts';
import { StartFault } from '../../../src/engine/model/fault.ts';
import { createKindOf } from '../../../src/engine/model/violation-kind.ts';
import { createUpstream } from '../../../src/engine/upstream/create-upstream.ts';
import { compilePermissionMessage } from '../../../src/engine/upstream/failures/permission-message.ts';
import { DEFAULT_JSON_LIMITS } from '../../../src/lib/bounded-json.ts';
import { type ReferenceServer, startReferenceServer } from '../../../src/reference/start-reference-server.ts';
import { createAskedServer, type Pause } from '../../../src/workbench/compare/ask-server.ts';
import { type Comparator, compileComparator } from '../../../src/comparison/comparator.ts';
import { zoneClock } from '../../../src/comparison/dates.ts';
import { createIdentities, type Identities, type IdMode } from '../../../src/comparison/identities.ts';
import { createNoise, type NoiseRule } from '../../../src/comparison/noise.ts';
import { type Caller, type ComparisonParts, runComparison } from '../../../src/workbench/compare/run-comparison.ts';
import type { CompareState } from '../../../src/workbench/compare/resume.ts';
import type { RequestSource } from '../../../src/workbench/compare/sources/request-source.ts';
import { createTally } from '../../../src/workbench/compare/tally.ts';
import { createTargetReader } from '../../../src/comparison/targets.ts';
import { basic } from '../../builders/call.ts';
import { contract } from '../../builders/compiled-contract.ts';
import { tempFolder } from '../../builders/temp-folder.ts';
import { TEST_NOW } from '../../reference/with-reference-server.ts';
import { type SecondServer, startSecondServer } from './second-server.ts';

export const SETTINGS = loadSettings({ env: {}, cwd: '/', flags: [] });

/** A caller with the same account on both servers. The password is the name. */
export const callerOf = (name: string): Caller =>
  name === 'anonymous' ? { name, old: undefined, new: undefined } : { name, old: basic(name), new: basic(name) };

/** Starts the reference server and the second implementation, which have the same data. */
export function withTwoServers() {
  let old: ReferenceServer | undefined;
  let next: SecondServer | undefined;
  beforeAll(async () => {
    const db = join(tempFolder(), 'data.db');
    old = await startReferenceServer({ db, complete: true, clock: () => TEST_NOW });
    next = await startSecondServer(db);
  });
  afterAll(async () => {
    await old?.close();
    await next?.close();
  });
  const running = () => {
    if (old === undefined || next === undefined) throw new Error('the servers are not running');
    return { old, new: next };
  };
  return running;
}

/** What a comparison in a test can choose. */
export interface SetUp {
  readonly ids?: IdMode | Identities;
  readonly noise?: readonly NoiseRule[];
  readonly now?: number;
  readonly zones?: { readonly old: string; readonly new: string };
}

/** Compiles a comparator for two servers. */
export function comparatorFor(urls: { readonly old: string; readonly new: string }, setUp: SetUp = {}) {
  const { ids: given = 'learned', noise: rules = [], now = TEST_NOW, zones = { old: 'UTC', new: 'UTC' } } = setUp;
  const ids = typeof given === 'string' ? createIdentities(given) : given;
  const noise = createNoise(rules, now);
  const sideOf = (url: string, zone: string) => {
    const { origin, pathname } = new URL(url);
    const basePath = pathname === '/' ? '' : pathname;
    return { own: [...new Set([origin + basePath, origin])], basePath, clock: zoneClock(zone), zone };
  };
  const comparator: Comparator = compileComparator({
    contract,
    failures: {
      isPermissionMessage: compilePermissionMessage(SETTINGS.upstream.permissionMessages),
      jsonLimits: DEFAULT_JSON_LIMITS,
    },
    ids,
    noise,
    old: sideOf(urls.old, zones.old),
    new: sideOf(urls.new, zones.new),
  });
  return { comparator, ids, noise };
}

/** Creates a tally whose clock stands still. */
export const tallyOf = (saved?: Parameters<typeof createTally>[1]) =>
  createTally(
    {
      clock: () => TEST_NOW,
      kindOf: createKindOf(),
      release: 'test',
      structureOf: (target) => target.split('?', 1)[0] ?? '',
    },
    saved,
  );

/** What an interrupted comparison in a test leaves. */
export type SavedRun = Omit<CompareState, 'subject'>;

/** Compares two servers over sockets, and returns what was found. */
export async function compareAt(
  urls: { readonly old: string; readonly new: string },
  source: RequestSource,
  setUp: SetUp &
    Partial<
      Pick<ComparisonParts, 'callers' | 'concurrency' | 'askAgainAfterMs' | 'isSelf' | 'undocumented' | 'signal'>
    > & {
      readonly saved?: SavedRun | undefined;
      readonly onCheckpoint?: (saved: SavedRun) => void;
      readonly pause?: Pause;
      readonly clock?: () => number;
      readonly delayMs?: number;
    } = {},
) {
  const { comparator, ids, noise } = comparatorFor(urls, setUp);
  const { saved, onCheckpoint } = setUp;
  if (saved !== undefined) comparator.restore(saved.comparison);
  const tally = tallyOf(saved?.tally);
  const pause: Pause = setUp.pause ?? (() => Promise.resolve());
  const clock = setUp.clock ?? (() => TEST_NOW);
  const upstreams = [urls.old, urls.new].map((url) => {
    const { origin, pathname } = new URL(url);
    return createUpstream({ origin, basePath: pathname === '/' ? '' : pathname }, SETTINGS.upstream, Date.now);
  });
  const [old, next] = upstreams.map((upstream) =>
    createAskedServer({ upstream, delayMs: setUp.delayMs ?? 0, clock, pause }),
  );
  if (old === undefined || next === undefined) throw new Error('two servers are needed');
  const run = await runComparison({
    contract,
    comparator,
    ids,
    tally,
    source,
    old,
    new: next,
    callers: setUp.callers ?? [callerOf('admin')],
    concurrency: setUp.concurrency ?? 4,
    askAgainAfterMs: 'askAgainAfterMs' in setUp ? setUp.askAgainAfterMs : 0,
    isSelf: setUp.isSelf ?? false,
    undocumented: setUp.undocumented ?? false,
    pause,
    signal: setUp.signal ?? new AbortController().signal,
    onProgress: () => undefined,
    unfinished: saved?.unfinished,
    onCheckpoint: (unfinished) =>
      onCheckpoint?.({ position: source.position(), unfinished, tally: tally.save(), comparison: comparator.save() }),
  });
  await Promise.all(upstreams.map((upstream) => upstream.close(0)));
  return {
    run,
    tally,
    counts: tally.counts(),
    found: tally.differences(),
    comparator,
    ids,
    noise,
    sent: { old: old.sent, new: next.sent },
  };
}

/** Describes differences as `kind place`, in order. */
export const wordsOf = (found: ReturnType<ReturnType<typeof tallyOf>['differences']>): string[] =>
  found
    .map(({ entry }) => `${entry.operation ?? 'undocumented'} ${entry.keyword.replace('compare-', '')} ${entry.at}`)
    .toSorted();

/** A source of the given targets. */
export function listSource(targets: readonly string[]): RequestSource {
  const waiting = [...targets];
  return {
    next: () => {
      const target = waiting.shift();
      return Promise.resolve(target === undefined ? undefined : { method: 'GET', target });
    },
    learn: () => undefined,
    left: () => waiting.length,
    position: () => targets.length - waiting.length,
    close: () => Promise.resolve(),
  };
}

export const readTarget = createTargetReader(contract);

/** Returns the faults with which a function fails, as text. */
export function faultsOf(read: () => unknown): readonly string[] {
  try {
    read();
    return [];
  } catch (error) {
    if (!(error instanceof StartFault)) throw error;
    return error.faults.map(({ source, pointer, message }) => `${source} ${pointer} ${message}`.trim());
  }
}

import { gunzipSync, gzipSync, zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import * as fc from 'fast-check';
import { beforeEach, describe, expect, it } from 'vitest';
import { type ChangeFollower, createChangeFollower } from '../../../src/engine/cache/change-follower.ts';
import { createPageCache, type PageCache } from '../../../src/engine/cache/memory-pages.ts';
import type { PageStore } from '../../../src/engine/cache/page-store.ts';
import { createSharedPages, followChanges, type SharedPages } from '../../../src/engine/cache/shared-pages.ts';
import { type StoredPageInput, cacheKey } from '../../../src/engine/cache/stored-page.ts';
import type { LogPosition, SharedChange } from '../../../src/engine/model/change-log.ts';
import { createFakePageStore, type FakePageStore } from '../../builders/fake-page-store.ts';
import { until } from '../../builders/until.ts';

const LONGEST = { freshSeconds: 30, staleWhileRevalidateSeconds: 30, staleIfErrorSeconds: 300 };

const keyOf = (audience = 'public', target = '/list') =>
  cacheKey({ pageVersion: 'v', operationId: 'list', audience, upstreamTarget: target });
const KEY = keyOf();

const pageOf = (text: string, more: Partial<StoredPageInput> = {}): StoredPageInput => ({
  headers: [['Content-Type', 'application/json']],
  body: Buffer.from(JSON.stringify({ text })),
  freshness: { freshSeconds: 30, staleWhileRevalidateSeconds: 30, staleIfErrorSeconds: 300 },
  carriesPrivate: false,
  validity: 'valid',
  ...more,
});

/** A gateway with its own memory, its own view of the log, and the shared pages. */
interface Member {
  /** The changes that the log does not yet contain. */
  readonly unapplied: SharedChange[];
  readonly memory: PageCache;
  readonly pages: SharedPages;
  readonly changes: ChangeFollower;
}

let fake: FakePageStore;
let time: { now: number; syncedAt: number };
beforeEach(() => {
  fake = createFakePageStore();
  time = { now: 1_000_000, syncedAt: 1_000_000 };
});

type FakeLog = Parameters<typeof createChangeFollower>[0]['changes'];

const TIMES = { poll: 5, unstorable: 60_000 };

function member(overrides: Partial<PageStore> = {}, times: object = TIMES, log: Partial<FakeLog> = {}): Member {
  const clock = () => time.now;
  const unapplied: SharedChange[] = [];
  const changes = createChangeFollower({
    clock,
    changes: { syncedAt: () => time.syncedAt, unapplied: () => unapplied, canMiss: true, ...log },
    maxUnsyncedSeconds: 5,
  });
  const store = fake.connect(overrides);
  const pages = createSharedPages({
    store,
    changes,
    clock,
    maxEntryBytes: 1_000,
    release: 'r',
    times,
  });
  const own = createPageCache({ maxBytes: 1 << 20, maxEntryBytes: 1_000, gzip: false, zstd: false }, clock);
  changes.reset({ lineage: 'one', number: 0 });
  return { memory: followChanges(own, changes, pages), pages, changes, unapplied };
}

const NOBODY = { kind: 'fetch', shared: undefined, done: () => undefined } as const;
/** Claims a page. If it is not shared, nobody else is asked. */
const claimOn = async (pages: SharedPages, ...given: Parameters<SharedPages['claim']>) =>
  (await pages.claim(...given)) ?? NOBODY;

const textOf = (body: Buffer | undefined): string | undefined =>
  body && (JSON.parse(body.toString()) as { text: string }).text;

/** Claims the right to fetch a page, fetches the page, and releases the claim. */
async function fetchAt({ memory, pages }: Member, key: string, text: string, more: Partial<StoredPageInput> = {}) {
  const claim = await claimOn(pages, key, { mayWait: true, longest: LONGEST });
  expect(claim.kind).toBe('fetch');
  memory.store(key, memory.beginFill([]), pageOf(text, more));
  claim.done();
}

describe('a shared page', () => {
  it('is found by another gateway', async () => {
    const [a, b] = [member(), member()];
    await fetchAt(a, KEY, 'x');
    const { kind, shared } = await claimOn(b.pages, KEY, { mayWait: true, longest: LONGEST });
    expect([kind, textOf(shared?.page.body)]).toEqual(['page', 'x']);
    expect(textOf(shared && b.memory.adopt(KEY, shared)?.entry.body)).toBe('x');
  });

  it('is fetched by one of several gateways, and the others wait for it', async () => {
    const [a, b, c] = [member(), member(), member()];
    const first = await claimOn(a.pages, KEY, { mayWait: true, longest: LONGEST });
    const waiting = [b, c].map(({ pages }) => claimOn(pages, KEY, { mayWait: true, longest: LONGEST }));
    await until(() => b.pages.counts().waits === 1 && c.pages.counts().waits === 1);
    a.memory.store(KEY, a.memory.beginFill([]), pageOf('x'));
    first.done();
    expect((await Promise.all(waiting)).map(({ kind }) => kind)).toEqual(['page', 'page']);
    expect(b.pages.counts()).toMatchObject({ miss: 1, hit: 0, waits: 1, avoided: 1 });
  });

  it('is fetched once if another gateway stores it between the lookup and the lock', async () => {
    const a = member();
    const first = await claimOn(a.pages, KEY, { mayWait: true, longest: LONGEST });
    let storeNow = () => {
      a.memory.store(KEY, a.memory.beginFill([]), pageOf('x'));
      first.done();
      return until(() => fake.claims.size === 0);
    };
    const store = fake.connect();
    const b = member({
      async get(hash) {
        const value = await store.get(hash);
        await storeNow();
        storeNow = () => Promise.resolve();
        return value;
      },
    });
    expect((await claimOn(b.pages, KEY, { mayWait: true, longest: LONGEST })).kind).toBe('page');
    await until(() => fake.claims.size === 0);
  });

  it('is looked up once for simultaneous requests at one gateway', async () => {
    const a = member();
    const claims = await Promise.all([1, 2, 3].map(() => claimOn(a.pages, KEY, { mayWait: true, longest: LONGEST })));
    expect([claims.map(({ kind }) => kind), fake.lookups]).toEqual([['fetch', 'fetch', 'fetch'], 2]);
  });

  // Messages can be lost while a connection is interrupted.
  it('is found by a waiting gateway even if the report about it is lost', async () => {
    const { listen: _, ...silent } = { ...fake.connect() };
    const a = member({
      claim: async (key, ms) => {
        const claim = await silent.claim(key, ms);
        return claim && { ...claim, release: () => Promise.resolve() };
      },
    });
    const b = member();
    const first = await claimOn(a.pages, KEY, { mayWait: true, longest: LONGEST });
    const waiting = claimOn(b.pages, KEY, { mayWait: true, longest: LONGEST });
    await until(() => b.pages.counts().waits === 1);
    a.memory.store(KEY, a.memory.beginFill([]), pageOf('x'));
    first.done();
    expect((await waiting).kind).toBe('page');
  });

  // A killed gateway cannot release its lock, but the lock expires.
  it('is fetched by a waiting gateway after the owner of the lock has died', async () => {
    const [a, b] = [member(), member()];
    await claimOn(a.pages, KEY, { mayWait: true, longest: LONGEST });
    const waiting = claimOn(b.pages, KEY, { mayWait: true, longest: LONGEST });
    await until(() => b.pages.counts().waits === 1);
    fake.claims.clear();
    expect((await waiting).kind).toBe('fetch');
    expect(fake.claims.size).toBe(1);
  });

  it('is fetched without the lock by a gateway that has waited too long', async () => {
    const [a, b] = [member(), member({}, { ...TIMES, longestWait: 10 })];
    await claimOn(a.pages, KEY, { mayWait: true, longest: LONGEST });
    expect((await claimOn(b.pages, KEY, { mayWait: true, longest: LONGEST })).kind).toBe('fetch');
  });

  it('keeps its lock for as long as it is fetched', async () => {
    let renewals = 0;
    const store = fake.connect();
    const claim: PageStore['claim'] = async (key, ms) => {
      const claimed = await store.claim(key, ms);
      return claimed && { ...claimed, renew: () => (renewals += 1) > 0 };
    };
    const a = member({ claim }, { ...TIMES, renew: 1 });
    const { done } = await claimOn(a.pages, KEY, { mayWait: true, longest: LONGEST });
    await until(() => renewals > 1);
    done();
    await until(() => fake.claims.size === 0);
  });

  // If every gateway waited for the lock on a page that is never stored, their requests would run one after another.
  it('is fetched by all waiting gateways at once if it could not be stored, and later without a lock', async () => {
    const [a, b, c] = [member(), member(), member()];
    const first = await claimOn(a.pages, KEY, { mayWait: true, longest: LONGEST });
    const waiting = [b, c].map(({ pages }) => claimOn(pages, KEY, { mayWait: true, longest: LONGEST }));
    await until(() => b.pages.counts().waits === 1 && c.pages.counts().waits === 1);
    first.done();
    expect((await Promise.all(waiting)).map(({ kind }) => kind)).toEqual(['fetch', 'fetch']);
    const again = await Promise.all([
      claimOn(a.pages, KEY, { mayWait: true, longest: LONGEST }),
      claimOn(b.pages, KEY, { mayWait: true, longest: LONGEST }),
    ]);
    expect([again.map(({ kind }) => kind), fake.claims.size]).toEqual([['fetch', 'fetch'], 0]);
  });

  // If every waiting gateway fetched the page, a single write during a fetch would make all of them fetch it repeatedly
  // for the next ten seconds.
  it('is fetched by one of the waiting gateways if it was purged while it was fetched', async () => {
    const [a, b, c] = [member(), member(), member()];
    const first = await claimOn(a.pages, KEY, { mayWait: true, longest: LONGEST });
    const waiting = [b, c].map(({ pages }) => claimOn(pages, KEY, { mayWait: true, longest: LONGEST }));
    await until(() => b.pages.counts().waits === 1 && c.pages.counts().waits === 1);
    const fill = a.memory.beginFill(['ideas']);
    a.memory.purge(['ideas']);
    expect(a.memory.store(KEY, fill, pageOf('old'))).toBe('purged');
    first.done();
    const second = await Promise.race(waiting);
    expect([second.kind, fake.claims.size]).toEqual(['fetch', 1]);
    for (const { memory } of [b, c]) memory.store(KEY, memory.beginFill([]), pageOf('x'));
    second.done();
    expect((await Promise.all(waiting)).map(({ kind }) => kind).toSorted()).toEqual(['fetch', 'page']);
  });

  // If gateways kept waiting for the lock even when purges are frequent, requests at all gateways would have to wait
  // for one another.
  it('is fetched without the lock by a gateway that has waited for two fetches in vain', async () => {
    const waiting = member({}, { ...TIMES, poll: 60_000 });
    const owner = await claimOn(member().pages, KEY, { mayWait: true, longest: LONGEST });
    const claim = claimOn(waiting.pages, KEY, { mayWait: true, longest: LONGEST });
    await until(() => waiting.pages.counts().waits === 1);
    const store = fake.connect();
    for (let fetches = 0; fetches < 2; fetches += 1) {
      const lookups = fake.lookups;
      fake.claims.clear();
      const other = await store.claim(KEY, 60_000);
      void other?.release(true);
      // Another gateway claims the page before the waiting gateway does.
      fake.claims.add(KEY);
      await until(() => fake.lookups > lookups);
    }
    expect((await claim).kind).toBe('fetch');
    expect([...fake.claims]).toEqual([KEY]);
    owner.done();
  });

  it('is not fetched for a refresh that another gateway is doing', async () => {
    const [a, b] = [member(), member()];
    await claimOn(a.pages, KEY, { mayWait: true, longest: LONGEST });
    expect((await claimOn(b.pages, KEY, { longest: LONGEST, mayWait: false, newerThan: 0 })).kind).toBe('busy');
  });

  it('is used for a refresh only if it is newer than the page in memory', async () => {
    const [a, b] = [member(), member()];
    await fetchAt(a, KEY, 'x');
    await until(() => fake.claims.size === 0);
    expect((await claimOn(b.pages, KEY, { longest: LONGEST, mayWait: false, newerThan: time.now - 1 })).kind).toBe(
      'page',
    );
    expect((await claimOn(b.pages, KEY, { longest: LONGEST, mayWait: false, newerThan: time.now })).kind).toBe('fetch');
  });

  it('is still returned after its freshness, in case the upstream fails', async () => {
    const [a, b] = [member(), member()];
    await fetchAt(a, KEY, 'x');
    await until(() => fake.claims.size === 0);
    time.now = time.syncedAt = 1_000_000 + 61_000;
    const { kind, shared } = await claimOn(b.pages, KEY, { mayWait: true, longest: LONGEST });
    expect([kind, textOf(shared?.page.body)]).toEqual(['fetch', 'x']);
    expect(shared && b.memory.adopt(KEY, shared)?.mayServeOnError).toBe(true);
  });

  // Each process hashes unverified callers with its own key. Two audiences of such callers could therefore be equal
  // only by coincidence.
  it.each(['caller:unverified:unverified:abc', 'caller:verified:user:alice;abc'])(
    'is neither stored nor looked up for %s',
    async (audience) => {
      const a = member();
      await fetchAt(a, keyOf(audience), 'x');
      expect([fake.values.size, fake.lookups, fake.claims.size]).toEqual([0, 0, 0]);
    },
  );

  it('is looked up for callers with the same name at every gateway', async () => {
    const [a, b] = [member(), member()];
    await fetchAt(a, keyOf('caller:verified:user:alice'), 'x');
    expect(
      (await claimOn(b.pages, keyOf('caller:verified:user:alice'), { mayWait: true, longest: LONGEST })).kind,
    ).toBe('page');
    expect((await claimOn(b.pages, keyOf('caller:verified:user:bob'), { mayWait: true, longest: LONGEST })).kind).toBe(
      'fetch',
    );
  });

  it.each([
    ['is unavailable', { isShared: () => false }, 'away'],
    ['fails at the lookup', { get: () => Promise.reject(new Error('gone')) }, 'error'],
    ['fails at the claim', { claim: () => Promise.reject(new Error('gone')) }, 'error'],
  ] as const)('is fetched without a lock while the store %s', async (_name, overrides, result) => {
    const a = member(overrides);
    const claim = await claimOn(a.pages, KEY, { mayWait: true, longest: LONGEST });
    expect([claim.kind, a.pages.counts()[result]]).toEqual(['fetch', 1]);
    claim.done();
  });

  it('is in memory even if the store is full', async () => {
    const a = member({ set: () => Promise.reject(new Error('OOM')) });
    await fetchAt(a, KEY, 'x');
    expect(textOf(a.memory.lookup(KEY)?.entry.body)).toBe('x');
  });

  it('is a miss if the value is damaged', async () => {
    const [a, b] = [member(), member()];
    await fetchAt(a, KEY, 'x');
    await until(() => fake.claims.size === 0);
    for (const [hash, value] of fake.values) fake.values.set(hash, value.subarray(0, -1));
    expect((await claimOn(b.pages, KEY, { mayWait: true, longest: LONGEST })).kind).toBe('fetch');
    expect(b.pages.counts().invalid).toBe(1);
  });

  it('is not used if a change arrives after it was read', async () => {
    const [a, b] = [member(), member()];
    const claim = await claimOn(a.pages, KEY, { mayWait: true, longest: LONGEST });
    a.memory.store(KEY, a.memory.beginFill(['node:1']), pageOf('x'));
    claim.done();
    const { shared } = await claimOn(b.pages, KEY, { mayWait: true, longest: LONGEST });
    b.unapplied.push({ kind: 'purge', tags: ['node:1'] });
    expect(shared && b.memory.adopt(KEY, shared)).toBeUndefined();
  });

  // If the operation is demoted, a page shared by several callers may contain one caller's data.
  it('is not used if its operation was demoted after its fetch began, unless it belongs to one caller', async () => {
    const [a, b] = [member(), member()];
    const own = keyOf('caller:verified:user:alice');
    for (const key of [KEY, own]) await fetchAt(a, key, 'x');
    b.changes.apply({ kind: 'demote', operation: 'list' }, 1, false);
    const kinds = await Promise.all(
      [KEY, own].map((key) => claimOn(b.pages, key, { longest: LONGEST, mayWait: false })),
    );
    expect(kinds.map(({ kind }) => kind)).toEqual(['fetch', 'page']);
  });

  it('replaces no page in memory that is newer', async () => {
    const [a, b] = [member(), member()];
    await fetchAt(a, KEY, 'old');
    const { shared } = await claimOn(b.pages, KEY, { mayWait: true, longest: LONGEST });
    time.now += 1_000;
    b.memory.store(KEY, b.memory.beginFill([]), pageOf('new'));
    expect(textOf(shared && b.memory.adopt(KEY, shared)?.entry.body)).toBe('new');
  });
});

interface Action {
  readonly do: 'write' | 'begin' | 'end' | 'read' | 'deliver' | 'sync' | 'cut' | 'join' | 'lose' | 'wait';
  readonly at: number;
  readonly list: number;
}

// The model: a list has a version, which every write increments. A page contains the version that was current when its
// fetch began. A gateway may serve an old version only if three conditions hold: the gateway did not write the newer
// version itself, it had not yet applied the newer version's purge, and that purge is not older than the bound.
describe('a fleet with a log that arrives late, is lost or cannot be reached', () => {
  const GATEWAYS = 3;
  const LISTS = 2;
  const BOUND_MS = 5_000;

  class Fleet {
    readonly log: { readonly change: SharedChange; readonly by: number }[] = [];
    readonly versions = Array.from({ length: LISTS }, () => 0);
    /** For each version, the gateway that wrote it and the time at which its purge was appended to the log. */
    readonly writes: { readonly list: number; readonly version: number; readonly by: number; appendedAt?: number }[] =
      [];
    lineage = 0;
    readonly members = Array.from({ length: GATEWAYS }, () => this.open());

    open() {
      const state = {
        applied: 0,
        lineage: 0,
        syncedAt: time.now,
        connected: true,
        own: new Set<SharedChange>(),
        queue: [] as { readonly change: SharedChange; readonly write: { appendedAt?: number } }[],
        fetching: [] as {
          readonly list: number;
          readonly version: number;
          readonly fill: ReturnType<PageCache['beginFill']>;
        }[],
      };
      const at = (): LogPosition => ({ lineage: String(this.lineage), number: this.log.length });
      const unapplied = () => [...state.own, ...state.queue.map(({ change }) => change)];
      const own = member({ isShared: () => state.connected }, TIMES, { syncedAt: () => state.syncedAt, unapplied });
      own.changes.reset(at());
      return { ...own, state };
    }

    key = (list: number) => keyOf('public', `/${list}`);
    of = (index: number) => {
      const one = this.members[index];
      if (one === undefined) throw new Error('no such gateway');
      return one;
    };

    append(by: number, change: SharedChange, write: { appendedAt?: number }) {
      this.log.push({ change, by });
      this.of(by).state.own.add(change);
      write.appendedAt = time.now;
    }

    deliver(index: number, all: boolean) {
      const { state, memory, changes } = this.of(index);
      if (!state.connected) return;
      if (state.lineage !== this.lineage) {
        state.lineage = this.lineage;
        state.applied = this.log.length;
        state.own.clear();
        changes.reset({ lineage: String(this.lineage), number: this.log.length });
        memory.purgeAll();
      }
      while (state.applied < this.log.length) {
        const { change, by } = this.log[state.applied] ?? { change: { kind: 'purge', tags: 'all' }, by: -1 };
        state.applied += 1;
        state.own.delete(change);
        changes.apply(change, state.applied, by === index);
        if (change.kind === 'purge' && change.tags !== 'all') memory.purge(change.tags);
        if (!all) return;
      }
      state.syncedAt = time.now;
      for (const { change, write } of state.queue.splice(0)) this.append(index, change, write);
    }

    async act({ do: name, at, list }: Action) {
      const { state, memory, pages } = this.of(at);
      const key = this.key(list);
      switch (name) {
        case 'write': {
          const version = (this.versions[list] ?? 0) + 1;
          this.versions[list] = version;
          const write: (typeof this.writes)[number] = { list, version, by: at };
          this.writes.push(write);
          const change: SharedChange = { kind: 'purge', tags: [`list:${list}`] };
          memory.purge([`list:${list}`]);
          if (state.connected && state.queue.length === 0) this.append(at, change, write);
          else state.queue.push({ change, write });
          break;
        }
        case 'begin':
          state.fetching.push({ list, version: this.versions[list] ?? 0, fill: memory.beginFill([`list:${list}`]) });
          break;
        case 'end': {
          const fetch = state.fetching.shift();
          if (fetch === undefined) break;
          const body = Buffer.from(String(fetch.version));
          const freshness = { freshSeconds: 3_600, staleWhileRevalidateSeconds: 0, staleIfErrorSeconds: 0 };
          memory.store(this.key(fetch.list), fetch.fill, pageOf('', { body, freshness }));
          break;
        }
        case 'read': {
          let found = memory.lookup(key);
          if (found === undefined) {
            const { kind, shared, done } = await claimOn(pages, key, { longest: LONGEST, mayWait: false });
            if (kind === 'page' && shared !== undefined) found = memory.adopt(key, shared);
            done();
          }
          if (found !== undefined) this.check(at, list, Number(found.entry.body.toString()));
          break;
        }
        case 'deliver':
        case 'sync':
          this.deliver(at, name === 'sync');
          break;
        case 'cut':
          state.connected = false;
          break;
        case 'join':
          state.connected = true;
          break;
        case 'lose':
          this.log.length = 0;
          this.lineage += 1;
          break;
        case 'wait':
          time.now += 1 + list * 3_000;
      }
    }

    check(at: number, list: number, served: number) {
      for (const write of this.writes) {
        if (write.list !== list || write.version <= served) continue;
        expect(write.by, 'a gateway serves a page that is older than its own write').not.toBe(at);
        const { appendedAt } = write;
        if (appendedAt === undefined) continue;
        expect(appendedAt, 'a gateway undoes a purge that it has applied').toBeGreaterThanOrEqual(
          this.of(at).state.syncedAt,
        );
        expect(appendedAt, 'a purge is undone for longer than the bound').toBeGreaterThanOrEqual(time.now - BOUND_MS);
      }
    }
  }

  it('serves no page that is older than the last purge that it knows, or than the bound', async () => {
    const names = [
      'write',
      'begin',
      'begin',
      'end',
      'end',
      'read',
      'read',
      'read',
      'deliver',
      'sync',
      'cut',
      'join',
      'wait',
    ] as const;
    const action = fc.record({
      do: fc.oneof(
        { weight: 40, arbitrary: fc.constantFrom(...names) },
        { weight: 1, arbitrary: fc.constant('lose' as const) },
      ),
      at: fc.nat(GATEWAYS - 1),
      list: fc.nat(LISTS - 1),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(action, { maxLength: 120, size: 'max' }), async (actions) => {
        fake = createFakePageStore();
        time = { now: 1_000_000, syncedAt: 1_000_000 };
        const fleet = new Fleet();
        for (const one of actions) await fleet.act(one);
      }),
      { numRuns: 500 },
    );
  });
});

describe.each([
  ['gzip', gzipSync, gunzipSync],
  ['zstd', zstdCompressSync, zstdDecompressSync],
] as const)('the %s form of a page', (coding, compress, expand) => {
  const body = Buffer.alloc(900, 'a page ');

  it('is compressed by one gateway and used by the others', async () => {
    const compressed = await member().pages.compress(body, coding);
    expect(expand(compressed)).toEqual(body);
    const stored: Buffer[] = [];
    const other = member({ set: async (_hash, value) => void stored.push(value) });
    expect(await other.pages.compress(body, coding)).toEqual(compressed);
    expect(stored).toEqual([]);
  });

  // The attack: another program that can write to Redis replaces a page's compressed form.
  it.each([
    ['another page', compress(Buffer.alloc(900, 'another '))],
    ['a longer page', compress(Buffer.alloc(100_000, 'a page '))],
    ['not compressed', Buffer.from('plain')],
  ])('is compressed again if the stored value is %s', async (_what, value) => {
    const { pages } = member({ get: () => Promise.resolve(value) });
    expect(expand(await pages.compress(body, coding))).toEqual(body);
  });
});

import { createSeededRandom } from '../../src/lib/seeded-random.ts';
import type { FillEvent, ReadEvent, WriteEvent } from './events.ts';
import { type Account, audienceOf, mayRequest, type Page, purgedTags, type Workload } from './workload.ts';

/** The parameters of a simulation. Times are in milliseconds. */
export interface SimulationSettings {
  readonly gateways: number;
  readonly perSecond: number;
  readonly writeShare: number;
  readonly seed: number;
  readonly seconds: number;
  /** The duration of the warm-up in seconds. It is excluded from the results. */
  readonly warmUpSeconds: number;
  readonly freshMs: number;
  readonly staleMs: number;
  /** The final share of a page's freshness lifetime. During this time, a gateway refreshes the page. */
  readonly earlyRefresh: number;
  readonly upstreamMs: readonly [from: number, to: number];
  /** The time that one Redis command takes. */
  readonly redisMs: number;
  /** The time that a change takes to reach another gateway. */
  readonly arrivalMs: number;
  /** The number of accounts. By default, the workload's own accounts are used. */
  readonly accounts?: number;
  /** The Redis commands per second that a gateway sends while it receives no requests. */
  readonly idleCommandsPerSecond: number;
}

/** The results of a simulation, excluding the warm-up. */
export interface SimulationResult {
  readonly requests: number;
  readonly reads: number;
  readonly writes: number;
  /** The shares of reads that were served from the gateway's memory and from Redis. */
  readonly memoryHits: number;
  readonly sharedHits: number;
  readonly fetches: number;
  /** Redis commands by purpose. */
  readonly commands: Readonly<Record<'idle' | 'record' | 'page' | 'purge' | 'arrival', number>>;
  readonly events: {
    readonly fills: readonly FillEvent[];
    readonly writes: readonly WriteEvent[];
    readonly reads: readonly ReadEvent[];
  };
}

/** How many commands each step sends. Commands inside scripts are included. */
const COMMANDS = {
  /** Looks up a page with GET. */
  lookup: 1,
  /** Takes a page's lock with SET NX. */
  lock: 1,
  /** Stores a page and its list's page count with two SET commands. */
  store: 2,
  /** Releases the lock with a script that runs GET, DEL and PUBLISH. */
  release: 4,
  /** Appends a change with a script that runs HGET, HINCRBY and XADD. */
  append: 4,
  /** Receives a change with XREAD and reads the latest entry in the log with a script that runs HGET twice. */
  arrival: 4,
  /**
   * Writes a batch to the ledger with a script. The script's commands for each operation, count and violation are
   * listed separately.
   */
  batch: 18,
  batchOperation: 2,
  batchCount: 2,
  /** Writes one of the violations in a batch, such as a missing permission for an operation. */
  batchViolation: 12,
} as const;
/**
 * The number of counts that one operation adds to a batch: a count of requests, and one verdict each for
 * authentication, requests, permissions and page bounds. If a response was fetched or a request was refused, there is
 * one more verdict.
 */
const COUNTS = { any: 5, fetched: 1, refused: 1 } as const;
/** How long a gateway waits before it tries again to refresh a page that another gateway is already refreshing. */
const BUSY_MS = 250;
/** How long a gateway waits after a request before it writes its counts to the ledger. */
const BATCH_MS = 500;

/** A page as stored by a gateway or Redis. */
interface Copy {
  /** When the upstream read the page. A later purge makes the copy invalid. */
  readonly filledFrom: number;
  readonly storedAt: number;
  readonly version: number;
}

/** The result of a claim (the right to fetch a page): the page, and whether it came from Redis. */
interface Claimed {
  readonly copy: Copy;
  readonly isShared: boolean;
}

/** A gateway: its pages, the latest purge of each tag, and the claims in progress. */
interface Gateway {
  readonly memory: Map<string, Copy>;
  readonly purgedAt: Map<string, number>;
  readonly claims: Map<string, Promise<Claimed | undefined>>;
  /** For each operation in the next batch for the ledger, the kinds of requests that were made. */
  recorded: Map<string, Set<keyof typeof COUNTS>>;
  /** For each key, the instant before which its page is not refreshed. */
  readonly busyUntil: Map<string, number>;
  /** The age at which a page becomes due for a refresh. */
  readonly refreshMs: number;
}

/**
 * Simulates a fleet: callers, gateways with two cache levels, purges, and one fetch per page. The same seed always
 * produces the same result.
 */
export async function simulateFleet(workload: Workload, settings: SimulationSettings): Promise<SimulationResult> {
  const { gateways: count, freshMs, staleMs, redisMs, arrivalMs, seconds, warmUpSeconds } = settings;
  const random = createSeededRandom(settings.seed);
  const time = createTimeline();
  const warm = warmUpSeconds * 1000;
  const gateways = Array.from({ length: count }, (): Gateway => ({
    memory: new Map(),
    purgedAt: new Map(),
    claims: new Map(),
    recorded: new Map(),
    busyUntil: new Map(),
    // Each gateway begins to refresh pages at a different age.
    refreshMs: freshMs * (1 - settings.earlyRefresh * (0.5 + random.fraction() / 2)),
  }));
  const shared = new Map<string, Copy>();
  const locks = new Map<string, Promise<void>>();
  const lastWrites = new Map<string, number>();
  const commands = { idle: 0, record: 0, page: 0, purge: 0, arrival: 0 };
  const fills: FillEvent[] = [];
  const writes: WriteEvent[] = [];
  const reads: ReadEvent[] = [];
  let [memoryHits, sharedHits, requests, counted, writeNumber] = [0, 0, 0, 0, 0];
  const isCounted = () => time.now() >= warm;
  const spend = (purpose: keyof typeof commands, number: number) => {
    if (isCounted()) commands[purpose] += number;
  };
  const delay = () => {
    const [from, to] = settings.upstreamMs;
    return from + random.fraction() * (to - from);
  };
  const isValid = ({ purgedAt }: Gateway, page: Page, copy: Copy) =>
    page.tags.every((tag) => (purgedAt.get(tag) ?? -1) < copy.filledFrom);

  const record = (gateway: Gateway, operation: string, kind: keyof typeof COUNTS) => {
    if (gateway.recorded.size === 0)
      time.at(time.now() + BATCH_MS, () => {
        const batch = [...gateway.recorded.values()];
        gateway.recorded = new Map();
        const kinds = batch.flatMap((one) => [...one]);
        const counts = kinds.reduce((sum, one) => sum + COUNTS[one], 0);
        const violations = kinds.filter((one) => one === 'refused').length;
        spend('record', COMMANDS.batch + batch.length * COMMANDS.batchOperation);
        spend('record', counts * COMMANDS.batchCount + violations * COMMANDS.batchViolation);
      });
    const kinds = gateway.recorded.get(operation) ?? new Set(['any']);
    gateway.recorded.set(operation, kinds.add(kind));
  };

  /**
   * Fetches a page while holding its lock, or reads it from Redis. Returns undefined if another gateway is fetching
   * the page.
   */
  const claim = async (
    gateway: Gateway,
    page: Page,
    key: string,
    newerThan: number | undefined,
  ): Promise<Claimed | undefined> => {
    const isUseful = (copy: Copy | undefined): copy is Copy => {
      if (copy === undefined || !isValid(gateway, page, copy)) return false;
      const age = time.now() - copy.storedAt;
      return newerThan === undefined ? age < freshMs + staleMs : age < freshMs && copy.storedAt > newerThan;
    };
    const lookup = async () => {
      spend('page', COMMANDS.lookup);
      await time.pass(redisMs);
      return shared.get(key);
    };
    for (;;) {
      const found = await lookup();
      if (isUseful(found)) {
        gateway.memory.set(key, found);
        return { copy: found, isShared: true };
      }
      spend('page', COMMANDS.lock);
      await time.pass(redisMs);
      const locked = locks.get(key);
      if (locked === undefined) break;
      if (newerThan !== undefined) return undefined;
      await locked;
    }
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    locks.set(key, released);
    const unlock = () => {
      spend('page', COMMANDS.release);
      locks.delete(key);
      release();
    };
    const latest = await lookup();
    if (isUseful(latest)) {
      unlock();
      gateway.memory.set(key, latest);
      return { copy: latest, isShared: true };
    }
    const filledFrom = time.now();
    const version = Math.max(0, ...page.tags.map((tag) => lastWrites.get(tag) ?? 0));
    if (isCounted())
      fills.push({ at: filledFrom, page: page.index, audience: key.slice(key.indexOf(' ') + 1), version });
    await time.pass(delay());
    const copy: Copy = { filledFrom, storedAt: time.now(), version };
    if (isValid(gateway, page, copy)) {
      gateway.memory.set(key, copy);
      spend('page', COMMANDS.store);
      await time.pass(redisMs);
      shared.set(key, copy);
    }
    unlock();
    return { copy, isShared: false };
  };

  /** Runs only one claim at a time per page and gateway. Other requests for the page receive the same result. */
  const claimOnce = (gateway: Gateway, page: Page, key: string, newerThan?: number): Promise<Claimed | undefined> => {
    const running = gateway.claims.get(key);
    if (running !== undefined) return running;
    const claimed = claim(gateway, page, key, newerThan).finally(() => gateway.claims.delete(key));
    gateway.claims.set(key, claimed);
    return claimed;
  };

  const read = async (gateway: Gateway, account: Account, page: Page) => {
    if (!mayRequest(account, page)) {
      record(gateway, page.operation, 'refused');
      return;
    }
    record(gateway, page.operation, 'any');
    const startedAt = time.now();
    const audience = audienceOf(page, account);
    const key = `${page.index} ${audience}`;
    if (isCounted()) counted += 1;
    const see = ({ version }: Copy) => {
      if (startedAt >= warm)
        reads.push({
          startedAt,
          page: page.index,
          audience,
          seen: { version, audience, page: page.index },
          cache: '',
          probe: false,
        });
    };
    const stored = gateway.memory.get(key);
    const age = stored === undefined ? Infinity : time.now() - stored.storedAt;
    if (stored !== undefined && age < freshMs + staleMs && isValid(gateway, page, stored)) {
      if (isCounted()) memoryHits += 1;
      see(stored);
      if (age < gateway.refreshMs || gateway.claims.has(key) || (gateway.busyUntil.get(key) ?? 0) > time.now()) return;
      const refreshed = await claimOnce(gateway, page, key, stored.storedAt);
      if (refreshed?.isShared === false) record(gateway, page.operation, 'fetched');
      if (refreshed === undefined) gateway.busyUntil.set(key, time.now() + BUSY_MS);
      return;
    }
    let result = await claimOnce(gateway, page, key);
    // The claim may have been a refresh that ended because another gateway was fetching the page, or its page may
    // already be outdated.
    while (result === undefined || (result.isShared && !isValid(gateway, page, result.copy)))
      result = await claimOnce(gateway, page, key);
    if (!result.isShared) record(gateway, page.operation, 'fetched');
    if (result.isShared && startedAt >= warm) sharedHits += 1;
    see(result.copy);
  };

  const write = async (gateway: Gateway, account: Account) => {
    const { kind, node } = workload.chooseWrite(random);
    const isAllowed = mayRequest(account, kind);
    record(gateway, kind.operation, isAllowed ? 'fetched' : 'refused');
    if (!isAllowed) return;
    const tags = purgedTags(kind, node);
    await time.pass(delay() / 2);
    writeNumber += 1;
    const number = writeNumber;
    const effectAt = time.now();
    for (const tag of tags) lastWrites.set(tag, number);
    await time.pass(delay() / 2);
    const purge = (one: Gateway) => {
      for (const tag of tags) one.purgedAt.set(tag, time.now());
    };
    purge(gateway);
    spend('purge', COMMANDS.append);
    await time.pass(redisMs);
    writes.push({ number, tags, effectAt, respondedAt: time.now() });
    await time.pass(arrivalMs);
    for (const one of gateways) {
      spend('arrival', COMMANDS.arrival);
      if (one !== gateway) purge(one);
    }
  };

  const population = settings.accounts ?? workload.accounts.length;
  const chooseAccount = (): Account => {
    const number = random.integer(0, population - 1);
    const like = workload.accounts[number % workload.accounts.length] as Account;
    return settings.accounts === undefined ? like : { ...like, name: `${like.role}${number}` };
  };
  const spacing = 1000 / settings.perSecond;
  const pending: Promise<void>[] = [];
  const arrive = (number: number) => {
    const at = number * spacing;
    if (at >= seconds * 1000) return;
    time.at(at, () => {
      if (isCounted()) requests += 1;
      const gateway = gateways[number % count] as Gateway;
      const account = chooseAccount();
      const isWrite = random.chance(settings.writeShare);
      pending.push(isWrite ? write(gateway, account) : read(gateway, account, workload.choosePage(random)));
      arrive(number + 1);
    });
  };
  arrive(0);
  await time.run();
  commands.idle = settings.idleCommandsPerSecond * count * (seconds - warmUpSeconds);
  await Promise.all(pending);
  const counts = writes.filter(({ respondedAt }) => respondedAt >= warm);
  return {
    requests,
    reads: counted,
    writes: counts.length,
    memoryHits: memoryHits / Math.max(1, counted),
    sharedHits: sharedHits / Math.max(1, counted),
    fetches: fills.length,
    commands,
    events: { fills, writes, reads },
  };
}

/** A simulated clock with a queue of events. */
interface Timeline {
  now(): number;
  at(instant: number, run: () => void): void;
  /** Resolves when this much simulated time has passed. */
  pass(milliseconds: number): Promise<void>;
  /** Runs all events in chronological order. */
  run(): Promise<void>;
}

function createTimeline(): Timeline {
  // A binary heap. Events at the same instant run in the order in which they were added.
  const heap: { readonly at: number; readonly order: number; readonly run: () => void }[] = [];
  let current = 0;
  let order = 0;
  const isEarlier = (one: number, other: number) => {
    const [a, b] = [heap[one], heap[other]];
    if (a === undefined || b === undefined) return a !== undefined;
    return a.at === b.at ? a.order < b.order : a.at < b.at;
  };
  const swap = (one: number, other: number) => {
    const [a, b] = [heap[one], heap[other]];
    if (a !== undefined && b !== undefined) [heap[one], heap[other]] = [b, a];
  };
  const add = (at: number, run: () => void) => {
    order += 1;
    heap.push({ at, order, run });
    for (let child = heap.length - 1; child > 0;) {
      const parent = (child - 1) >> 1;
      if (!isEarlier(child, parent)) break;
      swap(child, parent);
      child = parent;
    }
  };
  const take = () => {
    swap(0, heap.length - 1);
    const first = heap.pop();
    for (let parent = 0; ;) {
      const [left, right] = [parent * 2 + 1, parent * 2 + 2];
      const child = right < heap.length && isEarlier(right, left) ? right : left;
      if (child >= heap.length || !isEarlier(child, parent)) break;
      swap(parent, child);
      parent = child;
    }
    return first;
  };
  return {
    now: () => current,
    at: add,
    pass: (milliseconds) =>
      new Promise((resolve) => {
        add(current + milliseconds, resolve);
      }),
    async run() {
      for (let next = take(); next !== undefined; next = take()) {
        current = next.at;
        next.run();
        // The continuations of this event must add their own events before the next event runs.
        await settled();
      }
    },
  };
}

/** Resolves after all ready continuations have run. */
function settled(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}

import { connect, type Socket } from 'node:net';
import { parseResponse, type RawResponse } from '../../../bench/raw-request.ts';

/** One request, and how its response is checked. */
export interface Ask {
  readonly message: string;
  /** Returns what is wrong with the response, or undefined if it is correct. */
  readonly judge: (response: RawResponse) => string | undefined;
  /** Called if the client waited for the response but did not receive a complete one. */
  readonly onLost?: (reason: string) => void;
  /** The number of milliseconds after which the client disconnects, even if it has not received the response. */
  readonly abortAfterMs?: number;
}

/** A load that consists of requests over real sockets. */
export interface Load {
  readonly connections: number;
  /** Returns the port for the next connection. Called whenever a client connects. */
  readonly port: () => number;
  /** Returns a client's next request. Clients are numbered from 0. */
  readonly next: (client: number) => Ask;
  /** The number of requests due per second. If undefined, each client sends its next request as soon as it is free. */
  readonly perSecond?: number;
  /** The number of requests after which a client opens a new connection. */
  readonly perConnection?: number;
}

/** What happened to the requests in a load test. */
export interface LoadCounts {
  sent: number;
  /** The number of complete responses by status. */
  readonly statuses: Map<number, number>;
  /** The number of incorrect responses, keyed by what is wrong with them. */
  readonly wrong: Map<string, number>;
  /**
   * For each reason, the number of requests for which the client waited but did not receive a complete response.
   */
  readonly lost: Map<string, number>;
  aborted: number;
  /** The latencies by status, in milliseconds, measured from the time at which each request was sent or due. */
  readonly latencies: Map<number, number[]>;
}

/** A running load. */
export interface RunningLoad {
  readonly counts: LoadCounts;
  /** Stops sending requests, waits for the pending responses and closes all connections. */
  stop(): Promise<LoadCounts>;
}

const GIVE_UP_MS = 60_000;
/** The maximum number of distinct strings per count. */
const MAX_TEXTS = 20;

/** Returns the sum of the counts. */
export function totalOf(counts: ReadonlyMap<unknown, number>): number {
  return [...counts.values()].reduce((sum, one) => sum + one, 0);
}

/** Adds one to a count. */
export function increment<Key>(counts: Map<Key, number>, key: Key): void {
  if (counts.size < MAX_TEXTS || counts.has(key)) counts.set(key, (counts.get(key) ?? 0) + 1);
  else increment(counts, [...counts.keys()].at(-1) as Key);
}

/** Starts a load. */
export function startLoad(load: Load): RunningLoad {
  const counts: LoadCounts = {
    sent: 0,
    statuses: new Map(),
    wrong: new Map(),
    lost: new Map(),
    aborted: 0,
    latencies: new Map(),
  };
  let stopped = false;
  const due = load.perSecond === undefined ? undefined : createDueTimes(load.perSecond);
  const clients = Array.from({ length: load.connections }, async (_, client) => {
    let connection: Connection | undefined;
    // oxlint-disable-next-line no-unmodified-loop-condition -- stop() changes it
    while (!stopped) {
      const dueAt = due === undefined ? performance.now() : await due.next();
      if (dueAt === undefined) break;
      const ask = load.next(client);
      counts.sent += 1;
      const fresh = connection === undefined;
      const end = await (connection ??= new Connection(load.port())).exchange(ask);
      if (end.kind === 'response') {
        const { status } = end.response;
        increment(counts.statuses, status);
        const latencies = counts.latencies.get(status);
        const latency = performance.now() - dueAt;
        if (latencies === undefined) counts.latencies.set(status, [latency]);
        else latencies.push(latency);
        const wrong = ask.judge(end.response);
        if (wrong !== undefined) increment(counts.wrong, wrong);
      } else if (end.kind === 'aborted') counts.aborted += 1;
      else {
        ask.onLost?.(end.reason);
        increment(counts.lost, `${end.reason} on a ${fresh ? 'new' : 'reused'} connection`);
        // Without a pause, a client that cannot connect would retry constantly.
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
      if (connection.isClosed || connection.requests >= (load.perConnection ?? Infinity)) {
        connection.close();
        connection = undefined;
      }
    }
    connection?.close();
  });
  return {
    counts,
    async stop() {
      stopped = true;
      due?.stop();
      await Promise.all(clients);
      return counts;
    },
  };
}

/** Runs a load for a number of seconds. */
export async function runLoad(load: Load, seconds: number): Promise<LoadCounts> {
  const running = startLoad(load);
  await new Promise((resolve) => setTimeout(resolve, seconds * 1000));
  return running.stop();
}

type End =
  | { readonly kind: 'response'; readonly response: RawResponse }
  | { readonly kind: 'aborted' }
  | { readonly kind: 'lost'; readonly reason: string };

/** A persistent connection that has at most one request in progress. */
export class Connection {
  requests = 0;
  isClosed = false;
  readonly #socket: Socket;
  #data: Buffer = Buffer.alloc(0);
  #settle: ((end: End) => void) | undefined;

  constructor(port: number) {
    this.#socket = connect({ port, host: '127.0.0.1', noDelay: true });
    this.#socket.on('data', (part) => this.#read(part as Buffer));
    this.#socket.on('error', (error: NodeJS.ErrnoException) => this.#end(error.code ?? error.message));
    this.#socket.on('close', () => this.#end('closed without a response'));
  }

  exchange(ask: Pick<Ask, 'message' | 'abortAfterMs'>): Promise<End> {
    this.requests += 1;
    return new Promise((resolve) => {
      // If the server closed the connection while it was idle, the request fails here, as it would for any client.
      if (this.isClosed) {
        resolve({ kind: 'lost', reason: 'closed while idle' });
        return;
      }
      const abort =
        ask.abortAfterMs === undefined
          ? undefined
          : setTimeout(() => {
              this.close();
              this.#settle?.({ kind: 'aborted' });
            }, ask.abortAfterMs);
      const late = setTimeout(() => {
        this.close();
        this.#settle?.({ kind: 'lost', reason: `no response within ${GIVE_UP_MS / 1000} s` });
      }, GIVE_UP_MS);
      this.#settle = (end) => {
        this.#settle = undefined;
        clearTimeout(abort);
        clearTimeout(late);
        resolve(end);
      };
      this.#socket.write(ask.message, 'latin1');
    });
  }

  close(): void {
    this.isClosed = true;
    this.#socket.destroy();
  }

  #read(part: Buffer): void {
    this.#data = this.#data.length === 0 ? part : Buffer.concat([this.#data, part]);
    const response = parseResponse(this.#data);
    if (response === undefined) return;
    if (this.#data.length > response.bytes) this.#settle?.({ kind: 'lost', reason: 'more than one response' });
    this.#data = Buffer.alloc(0);
    // The server closes the connection after this response.
    if (response.headers['connection']?.toLowerCase() === 'close') this.close();
    this.#settle?.({ kind: 'response', response });
  }

  #end(reason: string): void {
    this.isClosed = true;
    this.#settle?.({ kind: 'lost', reason: this.#data.length > 0 ? `${reason} in mid-response` : reason });
  }
}

/** Returns the instants at which requests are due, in order. If no client is free, requests wait until one is. */
function createDueTimes(perSecond: number): { next(): Promise<number | undefined>; stop(): void } {
  const spacing = 1000 / perSecond;
  const startedAt = performance.now();
  const waiting: ((dueAt: number | undefined) => void)[] = [];
  let taken = 0;
  let stopped = false;
  const timer = setInterval(() => {
    while (waiting.length > 0 && startedAt + taken * spacing <= performance.now()) {
      waiting.shift()?.(startedAt + taken * spacing);
      taken += 1;
    }
  }, 1);
  return {
    next: () => {
      const dueAt = startedAt + taken * spacing;
      if (stopped) return Promise.resolve(undefined);
      if (dueAt > performance.now() || waiting.length > 0) return new Promise((resolve) => waiting.push(resolve));
      taken += 1;
      return Promise.resolve(dueAt);
    },
    stop: () => {
      stopped = true;
      clearInterval(timer);
      for (const resolve of waiting.splice(0)) resolve(undefined);
    },
  };
}

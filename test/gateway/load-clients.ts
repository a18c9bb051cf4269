import { Agent, request } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { until } from '../builders/until.ts';

/** A request that did not receive a complete response with the expected status, and what happened instead. */
interface LostRequest {
  readonly url: string;
  readonly reason: string;
}

/** The result of a load run. */
export interface LoadResult {
  /** The number of requests that received the expected response. */
  readonly done: number;
  readonly lost: readonly LostRequest[];
}

/** What the clients send, and to which server. */
interface LoadOptions {
  /** Returns the base URL of the next request. Called for every request. */
  readonly target: () => string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /**
   * The number of clients. Half of them open a new connection for each request, and the other half use a persistent
   * connection.
   */
  readonly clients: number;
  /** Returns whether a response is the expected one. By default, its status must be 200. */
  readonly accepts?: (status: number, body: string) => boolean;
}

/** How long a client pauses after each response, so that the clients do not keep the processor fully occupied. */
const PAUSE_MS = 40;

/**
 * Sends requests while `work` runs. Returns the lost requests and the number of responses. `work` can wait until a
 * given number of additional requests have ended.
 */
export async function loadWhile(
  options: LoadOptions,
  work: (further: (requests: number) => Promise<void>) => Promise<unknown>,
): Promise<LoadResult> {
  const { target, path, headers, accepts = (status) => status === 200 } = options;
  const lost: LostRequest[] = [];
  let done = 0;
  const ended = new AbortController();
  const client = async (_: unknown, index: number): Promise<void> => {
    const agent = index % 2 === 0 ? new Agent({ keepAlive: true, maxSockets: 1 }) : new Agent();
    while (!ended.signal.aborted) {
      const url = target() + path;
      try {
        const { status, body } = await send(url, headers, agent);
        if (accepts(status, body)) done += 1;
        else lost.push({ url, reason: `${status} ${body.slice(0, 100)}` });
      } catch (error) {
        lost.push({ url, reason: error instanceof Error ? error.message : String(error) });
      }
      await pause(PAUSE_MS);
    }
    agent.destroy();
  };
  const clients = Array.from({ length: options.clients }, client);
  try {
    await work((requests) => {
      const wanted = done + lost.length + requests;
      return until(() => done + lost.length >= wanted);
    });
  } finally {
    ended.abort();
    await Promise.all(clients);
  }
  return { done, lost };
}

function send(url: string, headers: Readonly<Record<string, string>>, agent: Agent) {
  return new Promise<{ status: number; body: string }>((resolve, reject) => {
    const sent = request(url, { headers, agent }, (response) => {
      let body = '';
      response.setEncoding('utf8').on('data', (part: string) => (body += part));
      response.on('error', reject);
      response.on('end', () => resolve({ status: response.statusCode ?? 0, body }));
    });
    sent.on('error', reject);
    sent.end();
  });
}

/** A process behind a load balancer. */
export interface Replica {
  readonly url: string;
  readonly adminUrl: string;
  /** Drains and ends the process. Its lame-duck period lasts until the load balancer has stopped using it. */
  stop(unused: Promise<unknown>): Promise<unknown>;
}

const POLL_MS = 50;
/** The average number of requests per client that must finish before each restart. */
const REQUESTS_PER_CLIENT = 3;

/**
 * Restarts replicas one after another while clients send requests, as in a rolling update. The clients use only
 * replicas whose `/readyz` returns 200, which is checked twenty times a second. Returns the lost requests.
 */
export async function rollingRestart(
  options: Omit<LoadOptions, 'target'>,
  start: () => Promise<Replica>,
  restarts: number,
): Promise<LoadResult> {
  const replicas = [await start(), await start()];
  let ready: readonly string[] = replicas.map(({ url }) => url);
  let turn = 0;
  const isReady = async ({ adminUrl }: Replica) => {
    const response = await fetch(`${adminUrl}/readyz`).catch(() => undefined);
    return response?.status === 200;
  };
  const check = async () => {
    const known = [...replicas];
    const states = await Promise.all(known.map(isReady));
    ready = known.filter((_, index) => states[index]).map(({ url }) => url);
  };
  const target = () => {
    turn += 1;
    return ready[turn % ready.length] ?? '';
  };
  const ended = new AbortController();
  const checks = (async () => {
    while (!ended.signal.aborted) {
      await check();
      await pause(POLL_MS);
    }
  })();
  const result = await loadWhile({ ...options, target }, async (further) => {
    for (let count = 0; count < restarts; count += 1) {
      const next = await start();
      replicas.push(next);
      while (!ready.includes(next.url)) await pause(POLL_MS);
      // This ensures that all clients are busy while the old replica drains, even on a slow machine.
      await further(options.clients * REQUESTS_PER_CLIENT);
      const [old] = replicas;
      await old?.stop(until(() => !ready.includes(old.url)));
      replicas.shift();
    }
  });
  ended.abort();
  await checks;
  return result;
}

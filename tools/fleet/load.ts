import type { RawResponse } from '../../bench/raw-request.ts';
import { toAuthorization } from '../../src/lib/basic-credentials.ts';
import { createSeededRandom } from '../../src/lib/seeded-random.ts';
import { type Ask, Connection, type RunningLoad, startLoad } from '../prove/load/load-client.ts';
import { pause } from '../prove/proof.ts';
import { type ArrivalEvent, type FailureEvent, now, type ReadEvent } from './events.ts';
import {
  type Account,
  accountNamed,
  audienceOf,
  mayRequest,
  type Page,
  PROBE_ACCOUNT,
  purgedTags,
  type WriteKind,
  type Workload,
} from './workload.ts';

/** A write whose response has arrived. Only the upstream's log shows when it took effect. */
export interface CompletedWrite {
  readonly number: number;
  readonly tags: readonly string[];
  readonly respondedAt: number;
}

/** What the callers in a run received. */
export interface Seen {
  readonly reads: ReadEvent[];
  readonly writes: CompletedWrite[];
  readonly failures: FailureEvent[];
  readonly arrivals: ArrivalEvent[];
  /** Requests correctly refused because the caller lacks a permission. */
  refused: number;
}

/** Creates an empty record of what callers receive. */
export function createSeen(): Seen {
  return { reads: [], writes: [], failures: [], arrivals: [], refused: 0 };
}

/** The load for a run. */
export interface FleetLoad {
  readonly workload: Workload;
  readonly port: number;
  readonly callers: number;
  readonly perSecond: number;
  /** The share of requests that are writes, from 0 to 1. */
  readonly writeShare: number;
  readonly seed: number;
}

/** Starts callers that send reads and writes to the balancer and record what they receive. */
export function startCallers(
  { workload, port, callers, perSecond, writeShare, seed }: FleetLoad,
  seen: Seen,
): RunningLoad {
  const { accounts } = workload;
  const randoms = Array.from({ length: callers }, (_, caller) => createSeededRandom(seed * 1000 + caller));
  return startLoad({
    connections: callers,
    port: () => port,
    perSecond,
    next(client) {
      const account = accounts[client % accounts.length] as Account;
      const random = randoms[client] as (typeof randoms)[number];
      if (!random.chance(writeShare)) return readAsk(account, workload.choosePage(random), seen, false);
      const { kind, node } = workload.chooseWrite(random);
      return writeAsk(account, kind, node, seen);
    },
  });
}

function readAsk(account: Account, page: Page, seen: Seen, probe: boolean): Ask {
  const startedAt = now();
  const isAllowed = mayRequest(account, page);
  const fail = failing(seen, startedAt, 'GET');
  const audience = audienceOf(page, account);
  return {
    message: messageOf('GET', page.target, account.name),
    onLost: fail,
    judge(response) {
      const { status, headers } = response;
      if (!isAllowed && status === 403) {
        seen.refused += 1;
        return undefined;
      }
      const marker = markerIn(response);
      if (status !== 200 || marker === undefined || (isAllowed && marker.page !== page.index))
        return fail(status === 200 ? 'a 200 without the page' : `status ${status}${codeIn(response)}`);
      seen.reads.push({
        startedAt,
        page: page.index,
        // A page that the caller must not receive at all counts as another caller's page.
        audience: isAllowed ? audience : 'nobody',
        seen: marker,
        cache: headers['cache-status'] ?? '',
        probe,
      });
      return undefined;
    },
  };
}

function writeAsk(
  account: Account,
  kind: WriteKind,
  node: number,
  seen: Seen,
  onResponse?: (number: number) => void,
): Ask {
  const startedAt = now();
  const isAllowed = mayRequest(account, kind);
  const fail = failing(seen, startedAt, kind.method);
  const target = kind.path.replace('{nodeId}', String(node));
  return {
    message: messageOf(kind.method, target, account.name, kind.requestBody),
    onLost: fail,
    judge(response) {
      const { status, body } = response;
      if (!isAllowed) {
        if (status !== 403) return fail(`a forbidden write got status ${status}`);
        seen.refused += 1;
        return undefined;
      }
      const number = Number(/"id":(\d+)/.exec(body.toString('latin1'))?.[1]);
      if (status !== kind.status || Number.isNaN(number)) return fail(`status ${status}${codeIn(response)}`);
      seen.writes.push({ number, tags: purgedTags(kind, node), respondedAt: now() });
      onResponse?.(number);
      return undefined;
    },
  };
}

/** Returns a function that records a failure and returns its message. */
function failing({ failures }: Seen, startedAt: number, method: string): (what: string) => string {
  return (what) => {
    failures.push({ startedAt, endedAt: now(), method, what });
    return what;
  };
}

function messageOf(method: string, target: string, name: string, body = ''): string {
  const lines = [`${method} ${target} HTTP/1.1`, 'Host: portico.test', 'Accept: application/json'];
  lines.push(`Authorization: ${toAuthorization(name, name)}`);
  if (method !== 'GET') lines.push(`Content-Length: ${Buffer.byteLength(body)}`);
  if (body !== '') lines.push('Content-Type: application/json');
  return `${lines.join('\r\n')}\r\n\r\n${body}`;
}

function markerIn({ body }: RawResponse): ReadEvent['seen'] | undefined {
  const [, version, audience = '', page] = /fleet\|(\d+)\|(\w+)\|(\d+)\|/.exec(body.toString('latin1')) ?? [];
  return page === undefined ? undefined : { version: Number(version), audience, page: Number(page) };
}

function codeIn({ body }: RawResponse): string {
  const code = /"code":"(\w+)"/.exec(body.toString('latin1', 0, 2000))?.[1];
  return code === undefined ? '' : ` (${code})`;
}

/** Measures how fast purges arrive, until `stop` is called. */
export interface Prober {
  stop(): Promise<void>;
}

/** The dependencies of the prober. */
interface ProberParts {
  readonly workload: Workload;
  /** The balancer's port, to which writes are sent. */
  readonly port: number;
  /** Returns the gateways that are currently running, with their ports. */
  readonly gateways: () => readonly { readonly gateway: number; readonly port: number }[];
  readonly everyMs: number;
  /** How long to wait for a purge. */
  readonly giveUpMs: number;
}

/**
 * Sends writes at regular intervals. After the response to each write, the prober repeatedly requests a page from each
 * gateway directly, without the balancer, until the page shows the write. All gateways have stored that page
 * beforehand.
 */
export function startProber(parts: ProberParts, seen: Seen): Prober {
  const { workload, port, everyMs, giveUpMs } = parts;
  const account = accountNamed(workload, PROBE_ACCOUNT);
  const [page] = workload.pages;
  const [kind] = workload.writes;
  if (page === undefined || kind === undefined) throw new Error('the workload is empty');
  const direct = new Map<number, Connection>();
  const connectionTo = (own: number) => {
    const open = direct.get(own);
    if (open !== undefined && !open.isClosed) return open;
    const opened = new Connection(own);
    direct.set(own, opened);
    return opened;
  };
  /** Returns the version that a gateway serves, or undefined if it does not respond. */
  const read = async (own: number): Promise<{ readonly version: number; readonly startedAt: number } | undefined> => {
    const ask = readAsk(account, page, seen, true);
    const startedAt = now();
    const end = await connectionTo(own).exchange(ask);
    // A gateway that was just killed does not respond. Only requests sent through the balancer are required to succeed.
    if (end.kind !== 'response') return undefined;
    ask.judge(end.response);
    const marker = markerIn(end.response);
    return marker === undefined ? undefined : { version: marker.version, startedAt };
  };
  const arrivalAt = async (own: number, number: number, respondedAt: number): Promise<number | undefined> => {
    const giveUpAt = respondedAt + giveUpMs;
    while (now() < giveUpAt) {
      const found = await read(own);
      if (found === undefined) return undefined;
      if (found.version >= number) return found.startedAt - respondedAt;
    }
    return Infinity;
  };
  const probe = async () => {
    await Promise.all(parts.gateways().map(({ port: own }) => read(own)));
    let number: number | undefined;
    const ask = writeAsk(account, kind, 1001, seen, (own) => {
      number = own;
    });
    const end = await connectionTo(port).exchange(ask);
    const respondedAt = now();
    if (end.kind !== 'response') {
      if (end.kind === 'lost') ask.onLost?.(end.reason);
      return;
    }
    ask.judge(end.response);
    if (number === undefined) return;
    const own = number;
    await Promise.all(
      parts.gateways().map(async ({ gateway, port: gatewayPort }) => {
        const ms = await arrivalAt(gatewayPort, own, respondedAt);
        if (ms !== undefined) seen.arrivals.push({ respondedAt, gateway, ms: ms === Infinity ? undefined : ms });
      }),
    );
  };
  let stopped = false;
  const running = (async () => {
    // oxlint-disable-next-line no-unmodified-loop-condition -- stop() changes it
    while (!stopped) {
      const nextAt = now() + everyMs;
      await probe();
      await pause(Math.max(0, nextAt - now()));
    }
    for (const connection of direct.values()) connection.close();
  })();
  return {
    async stop() {
      stopped = true;
      await running;
    },
  };
}

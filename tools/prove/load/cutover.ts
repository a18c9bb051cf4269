import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { parse } from 'yaml';
import { questionPage, STAMP } from '../../../bench/pages.ts';
import { rawRequest, type RawResponse } from '../../../bench/raw-request.ts';
import { toAuthorization } from '../../../src/lib/basic-credentials.ts';
import { findPrograms, startRedis } from '../../fleet/programs.ts';
import { grouped, pause, type ProofResult } from '../proof.ts';
import { Connection } from './load-client.ts';
import { type GatewayProcess, type ProcessGroup, startGateway, withProcesses } from './processes.ts';

/** The options for the drill. */
export interface DrillOptions {
  /** How long the share is in force before the restart, and again after it. */
  readonly seconds: number;
  tick(text: string): void;
}

const SHARE = 30;
const CLIENTS = 16;
const CALLERS_PER_CLIENT = 12;
/** A client's pause between requests, in milliseconds. */
const PAUSE_MS = 25;
const LIMITS = { minimum: 20, windowSeconds: 10, errors: 0.05 };
/** How long the new server may be asked after its failure has become visible, in milliseconds. */
const RETURN_MS = 1000;
/** How long it may take until enough requests have failed, in milliseconds. */
const VISIBLE_MS = 20_000;

const PROBE = '/services/v2/jobs/gdpr/0.json';
const LIST = '/services/v2/question.json';
const WRITE = '/services/v2/node/118/cancelwiki.json';
const [BEFORE = '', AFTER = ''] = questionPage('2k').toString().split(STAMP);

const { components } = parse(readFileSync(join(import.meta.dirname, '../../../schemas/openapi.yaml'), 'utf8')) as {
  components: { examples: { unwikify: { value: unknown } } };
};
const WRITTEN = JSON.stringify(components.examples.unwikify.value);

type SideName = 'old' | 'new';

/** A server that writes its name and the caller's into each page. */
interface StampingServer {
  readonly url: string;
  isBroken: boolean;
  /** When it last got a request, in milliseconds. */
  lastAskedAt: number;
  requests: number;
  close(): void;
}

async function startStampingServer(name: SideName): Promise<StampingServer> {
  const respond = (req: IncomingMessage, res: ServerResponse) => {
    const credential = Buffer.from(req.headers.authorization?.slice('Basic '.length) ?? '', 'base64').toString();
    const [user = '', password] = credential.split(':');
    const send = (status: number, body: string) => {
      res.writeHead(status, {
        'content-type': 'application/json;charset=UTF-8',
        'content-length': Buffer.byteLength(body),
      });
      res.end(body);
    };
    served.requests += 1;
    served.lastAskedAt = performance.now();
    const url = new URL(req.url ?? '/', 'http://server.invalid');
    if (user === '' || user !== password) send(401, '{"error":"Bad credentials"}');
    else if (url.pathname === PROBE) send(404, '{"error":"Job not found"}');
    else if (served.isBroken) send(500, '{"error":"internal"}');
    else if (req.method === 'PUT') send(200, WRITTEN);
    else send(200, `${BEFORE}${name}-for-${user}-${url.searchParams.get('q') ?? ''}${AFTER}`);
  };
  const server = createServer((req, res) => {
    req.resume();
    respond(req, res);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const served: StampingServer = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    isBroken: false,
    lastAskedAt: 0,
    requests: 0,
    close: () => server.close().closeAllConnections(),
  };
  return served;
}

/** What the clients see. */
interface Seen {
  requests: number;
  pages: number;
  hits: number;
  writes: number;
  readonly faults: Set<string>;
  /** Each caller's latest side, and the number of changes. */
  readonly sides: Map<string, { side: SideName; changes: number }>;
  /** The callers whose latest write was served by this side. */
  readonly wrote: Map<string, SideName>;
  /** For each gateway, the exchanges with the new server. */
  readonly exchanges: readonly { readonly at: number; readonly failed: boolean }[][];
  /** When a limit was first exceeded at one of the gateways, as its clients see it. */
  visibleAt: number | undefined;
}

/**
 * Moves callers to a new server in front of which two gateways stand, restarts one of them, and lets the new server
 * fail. Everybody must be served by the old server within a second, nobody may change sides twice, and no stored page may
 * be from the other server.
 */
export function cutoverDrill(options: DrillOptions): Promise<ProofResult> {
  const programs = findPrograms();
  if ('missing' in programs) return Promise.resolve({ cases: 0, faults: programs.missing, figures: '' });
  return withProcesses((group) => drill(group, programs.redis, options));
}

async function drill(group: ProcessGroup, redisPath: string, { seconds, tick }: DrillOptions): Promise<ProofResult> {
  const [old, fresh] = await Promise.all([startStampingServer('old'), startStampingServer('new')]);
  const redis = await startRedis(group, redisPath);
  const config = {
    checks: { responses: 'report' },
    authentication: { verifier: 'upstream', probe: { concurrency: 64, queue: 1000 } },
    cache: { freshSeconds: 1 },
    redis: { url: `redis://127.0.0.1:${redis.port}` },
    cutover: {
      url: fresh.url,
      sideHeader: true,
      operations: { '*': { share: SHARE } },
      // The servers share a process with the clients, so their latency shows nothing.
      return: { ...LIMITS, action: 'return', latency: { factor: 0 } },
    },
  } as const;
  const gateways = await Promise.all([0, 1].map(() => startGateway(group, old.url, { config })));
  const isUp = [true, true];
  const seen: Seen = {
    requests: 0,
    pages: 0,
    hits: 0,
    writes: 0,
    faults: new Set(),
    sides: new Map(),
    wrote: new Map(),
    exchanges: [[], []],
    visibleAt: undefined,
  };
  let isStopped = false;
  const clients = Array.from({ length: CLIENTS }, (_, client) =>
    runClient(client, { gateways, isUp, seen, isStopped: () => isStopped }),
  );
  tick(`${SHARE}% of the callers`);
  await pause(seconds * 1000);
  const [, second] = gateways;
  isUp[1] = false;
  await pause(500);
  tick('a gateway restarts');
  await second?.end('SIGTERM');
  await second?.start();
  isUp[1] = true;
  await pause(seconds * 1000);
  const changesBefore = changedCallers(seen, 1);
  const onNew = [...seen.sides.values()].filter(({ side }) => side === 'new').length;
  tick('the new server fails');
  const brokenAt = performance.now();
  fresh.isBroken = true;
  const givesUpAt = performance.now() + VISIBLE_MS;
  while (seen.visibleAt === undefined && performance.now() < givesUpAt) await pause(20);
  await pause(RETURN_MS * 1.5);
  const phases = await Promise.all(gateways.map(phaseOf));
  const askedBefore = fresh.requests;
  await pause(1000);
  isStopped = true;
  await Promise.all(clients);
  old.close();
  fresh.close();

  const { faults, visibleAt } = seen;
  const returnMs = visibleAt === undefined ? undefined : fresh.lastAskedAt - visibleAt;
  if (onNew === 0) faults.add('the new server served nobody');
  if (returnMs === undefined) faults.add('the failure of the new server never became visible');
  else if (returnMs > RETURN_MS)
    faults.add(`the new server was asked for ${Math.round(returnMs)} ms after its failure was visible`);
  if (fresh.requests > askedBefore) faults.add('the new server was asked after the return');
  for (const phase of phases) if (phase !== 'returned') faults.add(`a gateway is ${phase} instead of returned`);
  const twice = changedCallers(seen, 2);
  if (twice > 0) faults.add(`${twice} callers changed sides twice`);
  return {
    cases: seen.requests,
    faults: [...faults],
    figures:
      `${seen.sides.size} callers, ${onNew} on the new server, ${changesBefore} of them moved by writes; ` +
      `${grouped(seen.pages)} pages (${grouped(seen.hits)} stored), ${grouped(seen.writes)} writes; ` +
      `returned ${Math.round(fresh.lastAskedAt - brokenAt)} ms after the failure began, ` +
      `${Math.max(0, Math.round(returnMs ?? 0))} ms after it was visible; ${twice} callers changed twice`,
  };
}

const changedCallers = ({ sides }: Seen, least: number) =>
  [...sides.values()].filter(({ changes }) => changes >= least).length;

async function phaseOf({ adminPort }: GatewayProcess): Promise<string> {
  const { body } = await rawRequest(adminPort, '/cutover');
  return (JSON.parse(body.toString()) as { readonly phase: string }).phase;
}

interface ClientParts {
  readonly gateways: readonly GatewayProcess[];
  readonly isUp: readonly boolean[];
  readonly seen: Seen;
  readonly isStopped: () => boolean;
}

/** Sends the requests of some callers, one after the other, to the gateways in turn. */
async function runClient(client: number, { gateways, isUp, seen, isStopped }: ClientParts): Promise<void> {
  const connections = new Map<number, Connection>();
  for (let number = 0; !isStopped(); number += 1) {
    await pause(PAUSE_MS);
    const at = isUp[(number + client) % 2] === true ? (number + client) % 2 : (number + client + 1) % 2;
    const gateway = gateways[at];
    if (gateway === undefined) throw new Error('there is no such gateway');
    const name = `caller${String.fromCodePoint(97 + client)}${String.fromCodePoint(97 + (number % CALLERS_PER_CLIENT))}`;
    // Every request of a caller goes to another gateway than the one before.
    const isWrite = client % 4 === 0 && Math.floor(number / CALLERS_PER_CLIENT) % 4 === 2 && number % 3 === 0;
    const key = number % 2 === 0 ? 'often' : `once${client}x${number}`;
    let connection = connections.get(gateway.port);
    if (connection === undefined || connection.isClosed) connection = new Connection(gateway.port);
    connections.set(gateway.port, connection);
    const end = await connection.exchange({ message: messageOf(name, isWrite ? undefined : key) });
    seen.requests += 1;
    if (end.kind === 'response') judge(end.response, { name, key, isWrite, at }, seen);
    else if (end.kind === 'lost' && end.reason !== 'closed while idle') seen.faults.add(`lost: ${end.reason}`);
  }
  for (const connection of connections.values()) connection.close();
}

function messageOf(name: string, key: string | undefined): string {
  const target = key === undefined ? WRITE : `${LIST}?q=${key}`;
  const lines = [
    `${key === undefined ? 'PUT' : 'GET'} ${target} HTTP/1.1`,
    'Host: portico.test',
    'Accept: application/json',
    `Authorization: ${toAuthorization(name, name)}`,
    ...(key === undefined ? ['Content-Length: 0'] : []),
  ];
  return `${lines.join('\r\n')}\r\n\r\n`;
}

interface Asked {
  readonly name: string;
  readonly key: string;
  readonly isWrite: boolean;
  /** The index of the gateway. */
  readonly at: number;
}

function judge({ status, headers, body }: RawResponse, { name, key, isWrite, at }: Asked, seen: Seen): void {
  const header = headers['x-portico-side'];
  if (header !== 'old' && header !== 'new') {
    seen.faults.add(`status ${status} without a side`);
    return;
  }
  const isHit = headers['cache-status']?.includes('hit') === true;
  // The page is old, because the server has failed.
  const isStale = headers['cache-status']?.includes('stale-if-error') === true;
  if (header === 'new' && (!isHit || isStale)) noteExchange(at, status >= 500 || isStale, seen);
  if (status >= 500) {
    if (header === 'old') seen.faults.add(`status ${status} from the old server`);
    return;
  }
  if (status !== 200) {
    seen.faults.add(`status ${status}: ${body.toString('latin1', 0, 200)}`);
    return;
  }
  if (isWrite) {
    seen.writes += 1;
    if (header === 'new') seen.faults.add('a write was served by the new server');
    seen.wrote.set(name, header);
    return;
  }
  seen.pages += 1;
  if (isHit) seen.hits += 1;
  const found = /question-(old|new)-for-([a-z]+)-([a-z0-9]*)/.exec(body.toString('latin1'));
  const [, stamp, caller, q] = found ?? [];
  if (stamp !== header) seen.faults.add(`a page of the ${stamp ?? 'no'} server for the ${header} side`);
  if (caller !== name || q !== key) seen.faults.add('another page');
  const wrote = seen.wrote.get(name);
  if (wrote !== undefined && wrote !== header) seen.faults.add('a read after a write was served by the other server');
  const known = seen.sides.get(name);
  if (known === undefined) seen.sides.set(name, { side: header, changes: 0 });
  else if (known.side !== header) {
    known.side = header;
    known.changes += 1;
  }
}

/** Counts an exchange with the new server, and notes when a gateway has seen enough of them fail. */
function noteExchange(at: number, failed: boolean, seen: Seen): void {
  const now = performance.now();
  const own = seen.exchanges[at] ?? [];
  own.push({ at: now, failed });
  while (now - (own[0]?.at ?? now) > LIMITS.windowSeconds * 1000) own.shift();
  const failures = own.filter((one) => one.failed).length;
  if (own.length >= LIMITS.minimum && failures / own.length > LIMITS.errors) seen.visibleAt ??= now;
}

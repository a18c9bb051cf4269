import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createSeededRandom } from '../../src/lib/seeded-random.ts';
import { parseBasicCredentials } from '../../src/lib/basic-credentials.ts';
import { now } from './events.ts';
import type { FillEvent } from './events.ts';
import {
  accountNamed,
  audienceOf,
  createWorkload,
  MARKER,
  MARKER_NODE,
  MARKER_NUMBER,
  type Page,
  purgedTags,
} from './workload.ts';

/*
 * The upstream of a fleet, started as a separate process. It tracks the exact version of every page, which is the
 * number of the last write that changed the page. Each page contains its version and the audience that it was generated
 * for. The parent process reads the log of all fetches.
 */

/** The message with which the parent process requests the log. */
export interface UpstreamQuestion {
  readonly delayMs?: readonly [from: number, to: number];
}

/** The response to a request from the parent process. It lists the fetches and writes since the previous request. */
export interface UpstreamLog {
  readonly port: number;
  readonly fills: readonly FillEvent[];
  /** The writes, and the instant at which each took effect. */
  readonly effects: readonly { readonly number: number; readonly at: number; readonly tags: readonly string[] }[];
  /** Requests that no gateway should have sent. */
  readonly unexpected: readonly string[];
}

const workload = createWorkload();
const pages = new Map(workload.pages.map((page) => [page.target, page]));
const writes = workload.writes.map((kind) => ({
  kind,
  pattern: new RegExp(`^${kind.path.replaceAll('.', '[.]').replace('{nodeId}', '(\\d+)')}$`),
}));
const random = createSeededRandom(1);
const lastWrites = new Map<string, number>();
let number = 0;
let delay: readonly [number, number] = [20, 60];
let fills: FillEvent[] = [];
let effects: UpstreamLog['effects'][number][] = [];
let unexpected: string[] = [];

const later = (share: number, then: () => void) => {
  const [from, to] = delay;
  const ms = (from + random.fraction() * (to - from)) * share;
  if (ms > 0) setTimeout(then, ms);
  else then();
};

function send(res: ServerResponse, status: number, body: string): void {
  res.writeHead(status, {
    'content-type': 'application/json;charset=UTF-8',
    'content-length': Buffer.byteLength(body),
  });
  res.end(body);
}

function sendPage(res: ServerResponse, page: Page, name: string): void {
  const version = Math.max(0, ...page.tags.map((tag) => lastWrites.get(tag) ?? 0));
  const audience = audienceOf(page, accountNamed(workload, name));
  fills.push({ at: now(), page: page.index, audience, version });
  const body = page.body.replace(MARKER, `fleet|${version}|${audience}|${page.index}|`);
  // The page is read before the delay. If a write happens during the delay, the response is outdated before it
  // arrives.
  later(1, () => send(res, 200, body));
}

function respond(req: IncomingMessage, res: ServerResponse): void {
  const { method = '', url = '', headers } = req;
  const name = parseBasicCredentials(headers.authorization ?? '')?.name;
  const page = method === 'GET' ? pages.get(url) : undefined;
  if (page !== undefined && name !== undefined) {
    sendPage(res, page, name);
    return;
  }
  const write = writes.find(({ kind, pattern }) => kind.method === method && pattern.test(url));
  if (write === undefined || name === undefined) {
    unexpected.push(`${method} ${url}`);
    send(res, 404, '{"error":"not found"}');
    return;
  }
  const { kind, pattern } = write;
  const node = Number(pattern.exec(url)?.[1]);
  later(0.5, () => {
    number += 1;
    const own = number;
    const tags = purgedTags(kind, node);
    for (const tag of tags) lastWrites.set(tag, own);
    effects.push({ number: own, at: now(), tags });
    const body = kind.body.replace(String(MARKER_NUMBER), String(own)).replace(String(MARKER_NODE), String(node));
    later(0.5, () => send(res, kind.status, body));
  });
}

const server = createServer({ keepAliveTimeout: 120_000 }, (req, res) => {
  req.resume();
  respond(req, res);
});
server.listen({ port: 0, host: '127.0.0.1', backlog: 4096 }, () => {
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  const report = () => {
    process.send?.({ port, fills, effects, unexpected } satisfies UpstreamLog);
    [fills, effects, unexpected] = [[], [], []];
  };
  process.on('message', ({ delayMs }: UpstreamQuestion) => {
    delay = delayMs ?? delay;
    report();
  });
  report();
});
process.on('disconnect', () => process.exit());

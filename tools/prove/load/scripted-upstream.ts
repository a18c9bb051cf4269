import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { flushCompileCache } from 'node:module';
import { join } from 'node:path';
import { parse } from 'yaml';
import { questionPage, STAMP } from '../../../bench/pages.ts';

/*
 * The upstream of the load scenarios, started as a separate process. Each page of questions contains the caller's name
 * and the request's `q`, so that a client can recognize a page intended for another caller or request. The parent
 * process controls the faults and reads the counts.
 */

/** The settings that the parent process sends. */
export interface UpstreamSettings {
  /** The share of page requests that fail, from 0 to 1. */
  readonly faultShare: number;
  /** The delay before each response, in milliseconds. */
  readonly delayMs: number;
}

/** The report that the parent process receives after each change to the settings. */
export interface UpstreamReport {
  readonly port: number;
  readonly requests: number;
  readonly faults: number;
}

const { components } = parse(readFileSync(join(import.meta.dirname, '../../../schemas/openapi.yaml'), 'utf8')) as {
  components: { examples: { unwikify: { value: unknown } } };
};
const WIKI = JSON.stringify(components.examples.unwikify.value);
const [BEFORE = '', AFTER = ''] = questionPage('2k').toString().split(STAMP);

let settings: UpstreamSettings = { faultShare: 0, delayMs: 0 };
let requests = 0;
let pages = 0;
let faults = 0;

const JSON_TYPE = { 'content-type': 'application/json;charset=UTF-8' };

function send(res: ServerResponse, status: number, body: string, headers: Record<string, string> = JSON_TYPE): void {
  res.writeHead(status, { ...headers, 'content-length': Buffer.byteLength(body) });
  res.end(body);
}

/** The faults, in the order in which they are used. */
const FAULTS: readonly ((res: ServerResponse, page: string) => void)[] = [
  (res) => res.destroy(),
  (res, page) => {
    res.writeHead(200, { ...JSON_TYPE, 'content-length': page.length });
    res.write(page.slice(0, page.length / 2), () => res.destroy());
  },
  (res, page) => {
    res.writeHead(200, JSON_TYPE);
    res.write(page.slice(0, page.length / 2), () => res.destroy());
  },
  (res, page) => send(res, 200, page.slice(0, -2)),
  (res, page) => send(res, 200, page.replace('"type":"question"', '"type":17')),
  (res) => send(res, 500, '{"error":"internal"}'),
  (res) => send(res, 503, '{"error":"busy"}'),
  (res) => send(res, 200, '<html><body>Log in</body></html>', { 'content-type': 'text/html' }),
  (res, page) => send(res, 200, page, { ...JSON_TYPE, 'content-encoding': 'gzip' }),
  (res, page) => send(res, 200, page, { 'content-type': 'text/plain' }),
  (res, page) => void setTimeout(() => send(res, 200, page), 200),
];

function respond(req: IncomingMessage, res: ServerResponse): void {
  if (req.method === 'PUT') {
    send(res, 200, WIKI);
    return;
  }
  const credential = Buffer.from(req.headers.authorization?.slice('Basic '.length) ?? '', 'base64').toString('latin1');
  const q = new URL(req.url ?? '/', 'http://upstream.invalid').searchParams.get('q') ?? '';
  const page = `${BEFORE}for-${credential.split(':')[0] ?? ''}-${q}${AFTER}`;
  pages += 1;
  // Spreads the faults evenly over the requests.
  if (Math.floor(pages * settings.faultShare) === Math.floor((pages - 1) * settings.faultShare)) {
    send(res, 200, page);
    return;
  }
  FAULTS[faults % FAULTS.length]?.(res, page);
  faults += 1;
}

const server = createServer({ keepAliveTimeout: 120_000 }, (req, res) => {
  requests += 1;
  req.resume();
  if (settings.delayMs > 0) setTimeout(respond, settings.delayMs, req, res);
  else respond(req, res);
});
server.listen({ port: 0, host: '127.0.0.1', backlog: 4096 }, () => {
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  const report = () => process.send?.({ port, requests, faults } satisfies UpstreamReport);
  process.on('message', (message: UpstreamSettings) => {
    settings = message;
    report();
  });
  report();
  // The scenario ends this process with a signal, and only an orderly exit would store compiled code for the next start.
  flushCompileCache();
});
process.on('disconnect', () => process.exit());

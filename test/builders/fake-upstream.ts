import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { cleanUpAfterFile } from './clean-up.ts';
import { closeServer } from './close-server.ts';
import { until } from './until.ts';

/** A request as the upstream received it. */
export interface FakeRequest {
  readonly method: string;
  /** The raw target, including the query. */
  readonly target: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingHttpHeaders;
  readonly rawHeaders: readonly string[];
  readonly body: Buffer;
  /** The name in the request's Basic credential, if it has one. */
  readonly user: string | undefined;
  readonly password: string | undefined;
}

/** A response from the upstream. `json` is serialized, and `body` is sent unchanged. */
export interface FakeResponse {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
  readonly json?: unknown;
  readonly body?: string | Buffer;
}

/** Returns the response to a request. A handler may also write the response itself and return undefined. */
export type FakeHandler = (
  request: FakeRequest,
  response: ServerResponse,
) => FakeResponse | undefined | Promise<FakeResponse | undefined>;

/** An upstream that returns the test's responses and records the requests. */
export interface FakeUpstream {
  readonly url: string;
  /** The received requests, in order of arrival. */
  readonly requests: FakeRequest[];
  /** Responds to requests. A test can replace this function at any time. */
  handler: FakeHandler;
  /** Resolves when this many requests have arrived. */
  received(count: number): Promise<void>;
  close(): Promise<void>;
}

/** Starts a fake upstream and closes it after the last test in the file. */
export async function startFakeUpstream(handler: FakeHandler, basePath = ''): Promise<FakeUpstream> {
  const server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('error', () => undefined);
    request.on('end', () => {
      const target = request.url ?? '';
      const [path = '', query = ''] = target.split('?', 2);
      const [user, password] = credentialOf(request.headers.authorization);
      const { method = '', headers, rawHeaders } = request;
      const body = Buffer.concat(parts);
      const seen = {
        method,
        target,
        path,
        query: new URLSearchParams(query),
        headers,
        rawHeaders,
        body,
        user,
        password,
      };
      fake.requests.push(seen);
      Promise.resolve(fake.handler(seen, response)).then(
        (given) => given !== undefined && write(response, given),
        () => response.destroy(),
      );
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const fake: FakeUpstream = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}${basePath}`,
    requests: [],
    handler,
    received: (count) => until(() => fake.requests.length >= count),
    close: () => closeServer(server),
  };
  cleanUpAfterFile(async () => {
    await fake.close();
    // A test file's variables exist until its worker ends, so the requests would otherwise stay in memory until then.
    fake.requests.length = 0;
  });
  return fake;
}

function write(response: ServerResponse, { status = 200, headers = {}, json, body }: FakeResponse): void {
  const bytes = Buffer.from(body ?? (json === undefined ? '' : JSON.stringify(json)));
  const type: Record<string, string> =
    body === undefined && json !== undefined ? { 'Content-Type': 'application/json' } : {};
  const length: Record<string, string> =
    status === 204 || status === 304 ? {} : { 'Content-Length': String(bytes.length) };
  response.writeHead(status, { ...type, ...length, ...(headers as Record<string, string | string[]>) });
  response.end(bytes);
}

function credentialOf(authorization: string | undefined): [string?, string?] {
  if (!authorization?.startsWith('Basic ')) return [];
  const text = Buffer.from(authorization.slice(6), 'base64').toString();
  const colon = text.indexOf(':');
  return colon < 0 ? [text] : [text.slice(0, colon), text.slice(colon + 1)];
}

import type { ServerResponse } from 'node:http';
import { basic } from '../builders/call.ts';
import { exampleOf } from '../builders/contract-examples.ts';
import { type FakeRequest, type FakeUpstream, startFakeUpstream } from '../builders/fake-upstream.ts';
import { OPERATIONS } from '../builders/operations.ts';
import { createTestClock, type TestClock } from '../builders/test-clock.ts';
import { startTestGateway, type TestGateway } from '../builders/test-gateway.ts';
import { type FuzzScript, type FuzzStep, type UpstreamAct, WRONG_PASSWORD } from './fuzz-script.ts';
import { sendBytes } from './raw-runner.ts';

/** A gateway and its upstream for one mode. */
interface Place {
  readonly gateway: TestGateway;
  readonly upstream: FakeUpstream;
  readonly clock: TestClock;
  act: UpstreamAct | undefined;
  /** The number of log lines that have already been searched. */
  searched: number;
}

const places = new Map<string, Promise<Place>>();

async function startPlace(mode: string): Promise<Place> {
  const clock = createTestClock();
  const upstream = await startFakeUpstream((request, response) => perform(place, request, response));
  const gateway = await startTestGateway({
    upstream,
    clock,
    config: {
      mode,
      logging: { level: 'trace', principalNames: true },
      // Earlier failures must not cause later requests to be refused.
      upstream: { circuit: { failures: 10_000 } },
      authentication: { failures: { limit: 1000, limitPerName: 10_000 } },
    },
  });
  const place: Place = { gateway, upstream, clock, act: undefined, searched: 0 };
  return place;
}

/** Returns the mark of the caller with this credential. Only that caller may see the mark. */
const markOf = (credential: string) => `mark-${Buffer.from(credential, 'latin1').toString('hex')}-`;

function perform({ act }: Place, request: FakeRequest, response: ServerResponse): undefined {
  const mark = markOf(request.headers.authorization ?? 'none');
  const { kind, status, headers, body } = act ?? { kind: 'respond', status: 200, headers: [], body: '{}' };
  if (kind === 'reset') return void response.destroy();
  const bytes = Buffer.from(textOf(body).replaceAll('$CALLER', mark), 'latin1');
  const raw = headers.flatMap(([name, value]) => [name, value.replaceAll('$CALLER', mark)]);
  const hasBody = status !== 204 && status !== 304;
  response.writeHead(status, [...raw, ...(hasBody ? ['Content-Length', String(bytes.length)] : [])]);
  if (kind === 'cut' && hasBody && bytes.length > 1) response.write(bytes.subarray(0, -1), () => response.destroy());
  else response.end(hasBody ? bytes : undefined);
  return undefined;
}

function textOf(body: string): string {
  const [, id] = /^\$EXAMPLE (\w+)$/.exec(body) ?? [];
  if (id === undefined) return body;
  const example = exampleOf(id);
  return JSON.stringify(Array.isArray(example) ? example : { ...example, mark: '$CALLER' });
}

/** Replays a script. If a rule is violated, throws an error that names the first violated rule and the step. */
export async function replay(script: FuzzScript): Promise<void> {
  const starting = places.get(script.mode) ?? startPlace(script.mode);
  places.set(script.mode, starting);
  const place = await starting;
  place.gateway.gateway.services.cache.purgeAll();
  for (const [index, step] of script.steps.entries()) {
    const problem = await takeStep(place, script.mode, step);
    if (problem !== undefined) throw new Error(`step ${index}: ${problem}\n${JSON.stringify(script).slice(0, 4000)}`);
  }
}

/** Makes the next replay start new gateways. The current ones are closed after the last test in the file. */
export const forgetPlaces = (): void => places.clear();

async function takeStep(place: Place, mode: FuzzScript['mode'], step: FuzzStep): Promise<string | undefined> {
  const { gateway, upstream, clock } = place;
  clock.advance(step.wait);
  upstream.requests.length = 0;
  place.act = step.upstream;
  const { text, broken } = await sendBytes(Number(new URL(gateway.url).port), bytesOf(step));
  const asked = upstream.requests.slice();
  const { kind } = step.upstream;
  const response = readResponse(text, step.method === 'HEAD');
  const mayBreak = mode !== 'strict' && asked.length > 0 && kind !== 'respond';
  if (typeof response === 'string') return mayBreak ? undefined : `${response}${broken ? ', broken' : ''}`;
  return (
    problemOfResponse(mode, step, response, asked) ??
    leakIn(step, text) ??
    asked.map((request) => problemOfRequest(mode, request)).find((problem) => problem !== undefined) ??
    problemInLog(place)
  );
}

function bytesOf({ method, target, headers, body, user, password }: FuzzStep): string {
  const lines = [`${method} ${target.replaceAll('$CALLER', 'caller')} HTTP/1.1`, 'Host: x', 'Connection: close'];
  if (user !== null) lines.push(`Authorization: ${basic(user, password ?? user)}`);
  for (const [name, value] of headers)
    if (name !== 'Connection' || value !== 'keep-alive') lines.push(`${name}: ${value}`);
  const hasType = headers.some(([name]) => name === 'Content-Type');
  if (body !== null)
    lines.push(`Content-Length: ${body.length}`, ...(hasType ? [] : ['Content-Type: application/json']));
  return `${lines.join('\r\n')}\r\n\r\n${body ?? ''}`;
}

interface Response {
  readonly status: number;
  readonly headers: ReadonlyMap<string, string>;
  readonly body: string;
}

const HEADER_LINE = /^[!#$%&'*+.^_`|~\dA-Za-z-]+: ?[\t\x20-\x7e\x80-\xff]*$/;

/** Reads the only response in a string. If the response is not well framed, returns what is wrong with it. */
function readResponse(all: string, isHead: boolean): Response | string {
  const text = all.replace(/^(?:HTTP\/1\.1 1\d\d [^]*?\r\n\r\n)+/, '');
  const end = text.indexOf('\r\n\r\n');
  if (end < 0) return `no complete head: ${JSON.stringify(text.slice(0, 200))}`;
  const [first = '', ...lines] = text.slice(0, end).split('\r\n');
  const status = Number(/^HTTP\/1\.1 (\d{3}) [\x20-\x7e]*$/.exec(first)?.[1]);
  if (!(status >= 200)) return `not a status line: ${JSON.stringify(first)}`;
  const bad = lines.find((line) => !HEADER_LINE.test(line));
  if (bad !== undefined) return `not a header: ${JSON.stringify(bad)}`;
  const pairs = lines.map(
    (line) => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 1).trim()] as const,
  );
  const headers = new Map(pairs);
  for (const name of ['content-length', 'transfer-encoding', 'content-type', 'date'])
    if (pairs.filter(([one]) => one === name).length > 1) return `two headers named ${name}`;
  const rest = text.slice(end + 4);
  // The gateway does not know the method of a malformed message.
  const isEmpty =
    (isHead && !/"code":"(?:malformed_request|headers_too_large)"/.test(rest)) || status === 204 || status === 304;
  if (isEmpty) return rest === '' ? { status, headers, body: '' } : 'a body where none is allowed';
  const length = headers.get('content-length');
  if (length !== undefined && headers.has('transfer-encoding')) return 'both a length and a coding';
  if (length !== undefined)
    return Number(length) === rest.length
      ? { status, headers, body: rest }
      : `${rest.length} bytes instead of ${length}`;
  if (headers.get('transfer-encoding') !== 'chunked') return 'neither a length nor chunks';
  return readChunks(rest, { status, headers });
}

function readChunks(text: string, head: Omit<Response, 'body'>): Response | string {
  let body = '';
  let at = 0;
  for (;;) {
    const [line = '', digits = ''] = /^([\da-f]+)\r\n/i.exec(text.slice(at, at + 20)) ?? [];
    if (line === '') return 'a malformed chunk';
    const size = Number.parseInt(digits, 16);
    const next = at + line.length + size;
    if (text.slice(next, next + 2) !== '\r\n') return 'a chunk without an end';
    if (size === 0) return next + 2 === text.length ? { ...head, body } : 'bytes after the last chunk';
    body += text.slice(at + line.length, next);
    at = next + 2;
  }
}

/** Returns what is wrong with a response: an internal error, or one of Portico's own errors in the wrong form. */
function problemOfResponse(
  mode: string,
  step: FuzzStep,
  response: Response,
  asked: readonly FakeRequest[],
): string | undefined {
  const { status, headers, body } = response;
  if (body.includes('internal_error')) return 'an internal error';
  const isOwn = asked.length === 0 || mode === 'strict';
  if (status === 500 && isOwn) return 'a 500 of the gateway';
  if (mode === 'strict' && headers.has('set-cookie')) return 'a cookie of the upstream';
  if (status < 400 || !isOwn || step.method === 'HEAD') return undefined;
  const type = headers.get('content-type') ?? '';
  if (!/^application\/(?:problem\+)?json; charset=utf-8$/.test(type)) return `an error of the type ${type}`;
  const json = parse(Buffer.from(body, 'latin1').toString());
  const isLegacy = mode === 'observe' && (typeof json?.['error'] === 'string' || typeof json?.['errors'] === 'object');
  const isUsual =
    json?.['status'] === status &&
    json['requestId'] === headers.get('x-request-id') &&
    typeof json['code'] === 'string' &&
    typeof (json['error'] ?? json['detail']) === 'string' &&
    Array.isArray(json['details']);
  return isLegacy || isUsual ? undefined : `an error of another shape: ${body.slice(0, 200)}`;
}

function parse(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    return JSON.parse(text) as Record<string, unknown>;
  } catch {
    return undefined;
  }
}

/** Returns whether a string contains the mark of another caller, or a password. */
function leakIn({ user, password }: FuzzStep, text: string): string | undefined {
  const own = markOf(user === null ? 'none' : basic(user, password ?? user));
  const foreign = text.match(/mark-[\da-f]+-/g)?.find((mark) => mark !== own);
  if (foreign !== undefined) return `the response for another caller: ${foreign}`;
  return text.includes(WRONG_PASSWORD) ? 'a password in the response' : undefined;
}

const PATHS = OPERATIONS.map(({ method, target }) => {
  const marks = { job: '~', node: '~', issue: '~', comment: '~', group: '~', topic: '~', user: '~', answer: '~' };
  return { method, path: new RegExp(`^${RegExp.escape(target(marks)).replaceAll(/\\x7e|~/g, '[0-9]+')}$`) };
});
/** Client headers that must not reach the upstream on documented paths. */
const NEVER_SENT = [
  'cookie',
  'x-auth-token',
  'x-http-method-override',
  'x-original-url',
  'forwarded',
  'range',
  'if-match',
  'if-none-match',
  'if-modified-since',
  'expect',
  'upgrade',
  'te',
  'x-forwarded-user',
];

/** Returns what is wrong with a request that the upstream received. */
function problemOfRequest(
  mode: string,
  { method, target, path, headers, rawHeaders }: FakeRequest,
): string | undefined {
  if (!target.startsWith('/')) return `the upstream received the target ${target}`;
  const authorizations = rawHeaders.filter((name, at) => at % 2 === 0 && /^authorization$/i.test(name)).length;
  if (authorizations > 1) return 'the upstream received two credentials';
  if (
    mode === 'staging' &&
    !PATHS.some((one) => one.path.test(path)) &&
    PATHS.some((one) => one.path.test(simplest(path)))
  )
    return `the upstream received another spelling of a documented path: ${target}`;
  if (mode !== 'strict') return undefined;
  const isDocumented = PATHS.some(
    (one) => (one.method === method || (method === 'HEAD' && one.method === 'GET')) && one.path.test(path),
  );
  if (!isDocumented) return `the upstream received ${method} ${target}`;
  // Portico keeps a caller's session with the upstream. Any other cookie came from a client or belongs to another caller.
  const isOwnSession = headers.cookie === `SESSION=${markOf(headers.authorization ?? 'none')}`;
  const name =
    NEVER_SENT.find((one) => one in headers && !(one === 'cookie' && isOwnSession)) ??
    Object.keys(headers).find((one) => /^x-[!#$%&'*+.^_`|~]/.test(one));
  return name === undefined ? undefined : `the upstream received the header ${name}`;
}

/** Returns the simplest form to which a lenient server might reduce a path. */
const simplest = (path: string) =>
  path
    .replaceAll(/%([2-7][\da-f])/gi, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 16)))
    .replaceAll(/;[^/]*/g, '')
    .replaceAll(/\/+/g, '/')
    .replace(/[/. ]+$/, '')
    .toLowerCase();

/** Searches the new log lines for errors and secrets. */
function problemInLog(place: Place): string | undefined {
  const lines = place.gateway.log.slice(place.searched);
  place.searched = place.gateway.log.length;
  for (const line of lines) {
    if (!line.endsWith('\n') || line.indexOf('\n') !== line.length - 1) return 'a log line that is not one line';
    // eslint-disable-next-line no-control-regex -- these are the bytes that must not be there
    if (/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u2028\u2029\u202e]/.test(line))
      return 'a control character in the log';
    if (parse(line) === undefined) return `a log line that is not JSON: ${line.slice(0, 300)}`;
    if (line.includes('internal_error') || line.includes('"outcome":"failed"'))
      return `an internal error in the log: ${line.slice(0, 600)}`;
    if (
      line.includes(WRONG_PASSWORD) ||
      line.includes(Buffer.from(`:${WRONG_PASSWORD}`).toString('base64').slice(4, 20))
    )
      return 'a password in the log';
    if (/mark-[\da-f]+-/.test(line)) return `a value of the upstream in the log: ${line.slice(0, 300)}`;
  }
  return undefined;
}

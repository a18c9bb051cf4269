import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { createAccessLog, type AccessEntry, type AccessLogOptions } from '../../src/telemetry/access-log.ts';
import { responseViolation } from '../builders/response-violation.ts';
import { finishedTrace } from './fixed-trace.ts';

const SECRET = Buffer.from('alice:s3cret-word').toString('base64');
const servers: Server[] = [];

afterEach(() => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
});

type Answer = (request: IncomingMessage, response: ServerResponse) => void;

async function logged(
  entry: (request: IncomingMessage) => AccessEntry,
  answer: Answer = (_request, response) => response.end('{}'),
  options: Partial<AccessLogOptions> = {},
  call: { readonly target?: string; readonly abort?: boolean } = {},
): Promise<{ text: string; lines: Record<string, unknown>[]; headersSeen: string | undefined }> {
  let text = '';
  let headersSeen: string | undefined;
  const log = createAccessLog({
    level: 'info',
    clock: () => 1_700_000_001_000,
    stream: { write: (line: string) => void (text += line) },
    ...options,
  });
  const closed = Promise.withResolvers<void>();
  const server = createServer((incoming, response) => {
    log.watch(incoming, response, () => entry(incoming));
    response.once('close', () => {
      // After the line is written.
      headersSeen = incoming.headers.authorization;
      closed.resolve();
    });
    answer(incoming, response);
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const outgoing = request({
    port,
    host: '127.0.0.1',
    path: call.target ?? '/services/v2/question.json?q=alice%40example.org&token=t0p',
    headers: { authorization: `Basic ${SECRET}`, cookie: 'session=c00kie', 'x-auth-token': 'b3arer' },
  });
  outgoing.on('error', () => undefined);
  outgoing.on('response', (incoming) => incoming.on('error', () => undefined).resume());
  outgoing.end();
  if (call.abort) server.once('request', () => outgoing.destroy());
  await closed.promise;
  const lines = text.split('\n').filter(Boolean);
  return { text, lines: lines.map((line) => JSON.parse(line) as Record<string, unknown>), headersSeen };
}

const ofTrace =
  (more: Partial<AccessEntry> = {}) =>
  () => ({ trace: finishedTrace(), ...more });

describe('the access log', () => {
  it('writes one line for a request, of what the trace says', async () => {
    const { lines } = await logged(
      ofTrace({
        trace: finishedTrace({
          authentication: { level: 'enforce', outcome: 'passed', principal: 'verified' },
          permissions: { level: 'report', outcome: 'reported' },
          cache: { status: 'miss', stored: true },
          upstream: { status: 200, shape: 'json', seconds: 0.0031234567, attempts: 1 },
        }),
        template: '/services/v2/question.json',
      }),
    );
    expect(lines).toEqual([
      {
        level: 'info',
        time: '2023-11-14T22:13:21.000Z',
        requestId: 'req-1',
        traceId: '0af7651916cd43dd8448eb211c80319c',
        operation: 'listQuestions',
        method: 'GET',
        path: '/services/v2/question.json',
        status: 200,
        seconds: 0.004,
        bytes: 1234,
        principal: 'verified',
        checks: { permissions: 'reported' },
        cache: 'miss',
        upstream: { status: 200, shape: 'json', seconds: 0.003123, attempts: 1 },
        msg: 'request',
      },
    ]);
  });

  it('never shows the credential, the cookie, a token or the query that the library would log', async () => {
    const { text } = await logged((incoming) => ({ trace: finishedTrace(), target: incoming.url, caller: 'alice' }));
    for (const secret of [
      SECRET,
      's3cret-word',
      'c00kie',
      'b3arer',
      't0p',
      'example.org',
      'alice',
      'authorization',
      '?',
    ])
      expect(text.toLowerCase()).not.toContain(secret.toLowerCase());
    expect(text).toContain('"path":"/services/v2/question.json"');
  });

  it('shows nothing of the request, the answer or an error that somebody logs with the request’s own logger', async () => {
    const { text, lines, headersSeen } = await logged(ofTrace(), (incoming, response) => {
      response.setHeader('Set-Cookie', 'c00kie');
      incoming.log.info({ req: incoming, res: response, err: new Error('b3arer') }, 'by hand');
      response.end('{}');
    });
    expect(lines.map(({ msg }) => msg)).toEqual(['by hand', 'request']);
    expect(Object.keys(lines[0] ?? {})).toEqual(['level', 'time', 'requestId', 'msg']);
    for (const secret of [SECRET, 'c00kie', 'b3arer', 't0p', 'example.org']) expect(text).not.toContain(secret);
    // A serializer that takes a field away takes it from the live request.
    expect(headersSeen).toBe(`Basic ${SECRET}`);
  });

  it('shows a keyed tag for a caller, and the name only where configured', async () => {
    const tagged = await logged(ofTrace({ caller: 'alice' }));
    expect(tagged.lines[0]?.['caller']).toMatch(/^[0-9a-f]{12}$/);
    const named = await logged(ofTrace({ caller: 'alice' }), undefined, { principalNames: true });
    expect(named.lines[0]?.['caller']).toBe('alice');
  });

  it('shows where an internal error came from, and not its message', async () => {
    const cause = new TypeError('no such user: alice@example.org', { cause: new Error('row 7: 555-1234') });
    const { text, lines } = await logged(
      ofTrace({ trace: finishedTrace({ status: 500, error: 'internal_error', cause }) }),
      (_request, response) => {
        response.statusCode = 500;
        response.end();
      },
    );
    expect(lines).toHaveLength(1);
    expect(lines[0]).toMatchObject({
      level: 'error',
      error: 'internal_error',
      cause: { name: 'TypeError', cause: { name: 'Error' } },
    });
    expect(text).toContain('access-log.test.ts');
    expect(text).not.toMatch(/alice|555/);
  });

  it('writes status 0 for a client that left before the answer', async () => {
    const { status: _status, seconds: _seconds, ...open } = finishedTrace();
    const { lines } = await logged(
      () => ({ trace: open }),
      () => undefined,
      {},
      { abort: true },
    );
    expect(lines).toMatchObject([{ status: 0, seconds: 1 }]);
  });

  it('keeps a path on one line and within bounds, whatever it holds', async () => {
    const target = `/services/v2/user/%0a${'x'.repeat(300)}/alice@example.org/12345.json`;
    const { lines } = await logged(
      (incoming) => ({ trace: finishedTrace(), target: incoming.url }),
      undefined,
      {},
      { target },
    );
    expect(lines[0]?.['path']).toBe('/services/v2/user/{}/{}/{}.json');
  });

  it('writes nothing at level silent', async () => {
    expect((await logged(ofTrace(), undefined, { level: 'silent' })).text).toBe('');
  });
});

const hit = (more: Parameters<typeof finishedTrace>[0] = {}) =>
  finishedTrace({
    authentication: { level: 'enforce', outcome: 'passed', principal: 'verified' },
    cache: { status: 'hit', ageSeconds: 1 },
    ...more,
  });
/** What the log writes of finished requests. */
function written(entries: readonly AccessEntry[], options: Partial<AccessLogOptions> = {}): Record<string, unknown>[] {
  const lines: string[] = [];
  const stream = { write: (line: string) => void lines.push(line) };
  const log = createAccessLog({ level: 'info', clock: () => 1_700_000_001_000, stream, ...options });
  for (const entry of entries) log.write(entry);
  return lines.map((line) => JSON.parse(line) as Record<string, unknown>);
}

describe('a line that is written at once', () => {
  const template = '/services/v2/question.json';

  it('says what the line of a watched response says', async () => {
    for (const trace of [hit(), hit({ error: 'permission_denied', status: 403 })]) {
      const { lines } = await logged(() => ({ trace, template, caller: 'alice' }), undefined, { principalNames: true });
      const [line] = written([{ trace, template, caller: 'alice' }], { principalNames: true });
      expect(JSON.stringify(line)).toBe(JSON.stringify(lines[0]));
    }
  });

  it('has the same tag for a caller, however the line was written, and the name only where configured', () => {
    const entries = [hit(), hit({ violations: [responseViolation()] })].map((trace) => ({
      trace,
      template,
      caller: 'alice',
    }));
    const [plain, other] = written(entries);
    expect(plain?.['caller']).toMatch(/^[0-9a-f]{12}$/);
    expect(other?.['caller']).toBe(plain?.['caller']);
    expect(written(entries, { principalNames: true }).map(({ caller }) => caller)).toEqual(['alice', 'alice']);
  });

  it('is an error where the answer is one', () => {
    const traces = [hit(), hit({ status: 500, error: 'internal_error' }), hit({ status: 0 })];
    expect(written(traces.map((trace) => ({ trace, template }))).map(({ level }) => level)).toEqual([
      'info',
      'error',
      'info',
    ]);
  });

  it('is left out below the level of the log', () => {
    const entries = [hit(), hit({ status: 503 })].map((trace) => ({ trace, template }));
    for (const level of ['warn', 'error'] as const)
      expect(written(entries, { level }).map(({ status }) => status)).toEqual([503]);
    expect(written(entries, { level: 'silent' })).toEqual([]);
  });

  it('comes in the order of the requests, whatever is said of them', () => {
    const ids = ['a', 'b', 'c', 'd'];
    const entries = ids.map((requestId, at) => ({
      trace: { ...hit(at % 2 === 0 ? {} : { error: 'permission_denied', status: 403 }), requestId },
      template,
    }));
    expect(written(entries).map(({ requestId }) => requestId)).toEqual(ids);
  });
});

import { beforeAll, describe, expect, it } from 'vitest';
import { exampleResponse } from '../builders/example-response.ts';
import { type FakeUpstream, startFakeUpstream } from '../builders/fake-upstream.ts';
import { knowing, PROBE } from '../builders/knowing-upstream.ts';
import { startTestGateway, type TestGateway } from '../builders/test-gateway.ts';
import { sendRaw } from '../engine/upstream/support/raw-client.ts';

/*
 * The attack: a client sends text that looks like something else in the log. A line break begins a forged line, a
 * quotation mark adds a forged member, and an escape sequence makes a reader's terminal hide lines or run commands. The
 * single-byte forms of these sequences (U+0080 to U+009F), line separators, and marks that reverse the writing
 * direction are valid in JSON, so they must be escaped too.
 */

let fake: FakeUpstream;
let gateway: TestGateway;
beforeAll(async () => {
  const known = knowing();
  // This upstream has an account for every name.
  fake = await startFakeUpstream((request, response) =>
    request.path === PROBE ? { status: request.user === request.password ? 404 : 401 } : known(request, response),
  );
  gateway = await startTestGateway({
    upstream: fake,
    real: true,
    config: {
      mode: 'strict',
      logging: { level: 'trace', principalNames: true },
      undocumented: { allow: [{ method: '*', path: '/services/v2/**' }] },
      upstream: { circuit: { failures: 1000 } },
    },
  });
});

const HOSTILE = {
  'a line break': 'x\n{"level":"error","msg":"forged"}',
  'a carriage return': 'x\r{"level":"error"}',
  'a quotation mark': 'x","status":200,"caller":"admin',
  'a backslash at the end': 'x\\',
  'an escape sequence': 'x\u001b[2J\u001b]0;title\u0007',
  'an escape sequence of one byte': 'x\u009b2J\u009d0;title\u009c',
  'a line separator': 'x\u2028{"level":"error"}\u2029',
  'a mark that reverses the direction': 'x\u202e\u2066nimda',
  'a delete character': 'x\u007fy',
  'half a surrogate pair': 'x\ud800',
};

/** Returns the lines written since the last call. Each line must be one JSON object in plain characters. */
let read = 0;
function newLines(): Record<string, unknown>[] {
  const lines = gateway.log.slice(read);
  read = gateway.log.length;
  return lines.map((line) => {
    expect(line.endsWith('\n')).toBe(true);
    // eslint-disable-next-line no-control-regex -- these characters must not be in the log
    expect(line.slice(0, -1)).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]/);
    for (const name of ['caller', 'msg'])
      expect(line.split(new RegExp(`(?<!\\\\)"${name}":`)).length).toBeLessThanOrEqual(2);
    return JSON.parse(line) as Record<string, unknown>;
  });
}

describe.each(Object.entries(HOSTILE))('%s in the log', (_what, text) => {
  it("has no effect as a caller's name", async () => {
    const user = text.replaceAll(/[\p{Cc}:]/gu, (character) => (character > '\u007f' ? character : ''));
    const got = await gateway.call('/services/v2/comment/271.json', { user, headers: { 'X-Request-Id': 'named' } });
    expect([200, 401, 403]).toContain(got.status);
    const lines = newLines();
    expect(lines.some(({ requestId }) => requestId === 'named')).toBe(true);
    for (const { caller } of lines) expect(caller === undefined || typeof caller === 'string').toBe(true);
  });

  it('has no effect in a target, a header or a body of the upstream', async () => {
    const bytes = Buffer.from(text).toString('latin1');
    const encoded = encodeURIComponent(Buffer.from(text).toString()).replaceAll('%00', '');
    const visible = bytes.replaceAll(/\p{Cc}/gu, (character) => (character > '\u007f' ? character : ''));
    fake.handler = (request) =>
      request.path === PROBE
        ? { status: 404 }
        : { status: 400, json: { error: text, [text]: text }, headers: { 'X-A': visible } };
    await gateway.call(`/services/v2/${encoded}?${encoded}=${encoded}`);
    await gateway.call(`/services/v2/comment/${encoded}.json`);
    await gateway.call(`/services/v2/question.json?q=${encoded}&${encoded}=1`);
    const headers = {
      'X-Request-Id': visible,
      traceparent: visible,
      'User-Agent': visible,
      'X-Forwarded-For': visible,
    };
    await gateway.call('/services/v2/comment/271.json', { headers });
    const port = Number(new URL(gateway.url).port);
    await sendRaw(
      port,
      `GET /services/v2/${bytes} HTTP/1.1`,
      'Host: x',
      `X-Request-Id: ${bytes}`,
      'Connection: close',
      '',
      '',
    );
    await sendRaw(port, `${bytes} / HTTP/1.1`, 'Host: x', 'Connection: close', '', '');
    fake.handler = exampleResponse;
    expect(newLines().length).toBeGreaterThanOrEqual(4);
  });
});

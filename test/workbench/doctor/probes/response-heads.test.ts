import { describe, expect, it } from 'vitest';
import { responseProbe } from '../../../../src/workbench/doctor/probes/response-heads.ts';
import type { FakeHandler } from '../../../builders/fake-upstream.ts';
import { healthy, runProbe, runProbeAt, startRawServer, texts, withHeaders } from '../probe-setting.ts';

describe('the response probe', () => {
  it.each<[string, Readonly<Record<string, string | readonly string[]>>, RegExp]>([
    ['repeated headers', { 'X-Frame-Options': ['DENY', 'SAMEORIGIN'] }, /only once: x-frame-options/],
    ['a charset other than UTF-8', { 'Content-Type': 'application/json; charset=ISO-8859-1' }, /charset ISO-8859-1/],
    ['a type other than JSON', { 'Content-Type': 'text/plain' }, /labeled as text\/plain/],
    ['cookies', { 'Set-Cookie': ['JSESSIONID=1', 'theme=dark'] }, /Lists have Set-Cookie/],
    ['a Vary that prevents storing', { Vary: 'Accept-Encoding, User-Agent' }, /Lists have Vary: user-agent/],
    ['a large head', { 'X-Debug': 'x'.repeat(40_000) }, /head has 40\d{3} bytes/],
  ])('reports %s', async (_name, headers, finding) => {
    expect(texts(await runProbe(responseProbe, withHeaders(headers))).join()).toMatch(finding);
  });

  it('does not report session cookies, which Portico keeps', async () => {
    expect(texts(await runProbe(responseProbe, withHeaders({ 'Set-Cookie': 'JSESSIONID=1' })))).toEqual([]);
  });

  it('reports bytes that are not UTF-8', async () => {
    const latin: FakeHandler = () => ({
      body: Buffer.from('["caf\xe9"]', 'latin1'),
      headers: { 'Content-Type': 'application/json' },
    });
    expect(texts(await runProbe(responseProbe, latin))).toEqual(['high: Lists contain bytes that are not UTF-8.']);
  });

  it('reports text that is not JSON', async () => {
    const broken: FakeHandler = () => ({ body: '{"list": [', headers: { 'Content-Type': 'application/json' } });
    expect(texts(await runProbe(responseProbe, broken))).toEqual(['high: Lists are not valid JSON.']);
  });

  it('reports HTTP/1.0', async () => {
    const url = await startRawServer((socket) => {
      socket.once('data', (data) => {
        const body = String(data).startsWith('HEAD') ? '' : '[]';
        socket.end(`HTTP/1.0 200 OK\r\nContent-Type: application/json\r\n\r\n${body}`);
      });
    });
    expect(texts(await runProbeAt(url, responseProbe))).toEqual(['medium: The server responds with HTTP/1.0.']);
  });

  it('reports a HEAD that differs from GET', async () => {
    const result = await runProbe(responseProbe, (request, response) =>
      request.method === 'HEAD' ? { status: 405 } : healthy(request, response),
    );
    expect(texts(result)).toEqual(['low: HEAD gets 405, but GET gets 200.']);
  });
});

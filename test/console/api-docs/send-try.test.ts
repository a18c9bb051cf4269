import { describe, expect, it } from 'vitest';
import { sendTry } from '../../../src/console/api-docs/send-try.ts';
import { startFakeUpstream } from '../../builders/fake-upstream.ts';

const asked = { method: 'GET', target: '/services/v2/a.json', headers: {}, body: undefined };

async function fake(...[handler]: Parameters<typeof startFakeUpstream>) {
  const server = await startFakeUpstream(handler);
  const { hostname: host, port } = new URL(server.url);
  return { requests: server.requests, address: { host, port: Number(port) } };
}

describe('trying a request', () => {
  it('sends it unchanged below the base path and returns the response', async () => {
    const { address, requests } = await fake(() => ({ status: 201, headers: { 'X-A': ['1', '2'] }, body: 'stored' }));
    const answer = await sendTry(address, '/qa', {
      ...asked,
      method: 'POST',
      headers: { Accept: 'text/plain' },
      body: 'é',
    });
    expect(answer).toMatchObject({ status: 201, statusText: 'Created', body: 'stored', bytes: 6, cut: false });
    expect(answer.headers.filter(([name]) => name === 'X-A')).toEqual([
      ['X-A', '1'],
      ['X-A', '2'],
    ]);
    expect(answer.seconds).toBeGreaterThan(0);
    expect(requests[0]).toMatchObject({
      method: 'POST',
      target: '/qa/services/v2/a.json',
      headers: { accept: 'text/plain' },
    });
    expect(requests[0]?.body.toString()).toBe('é');
  });

  it('does not follow redirects', async () => {
    const { address, requests } = await fake(() => ({ status: 302, headers: { Location: 'http://192.0.2.1/' } }));
    expect(await sendTry(address, '', asked)).toMatchObject({ status: 302 });
    expect(requests).toHaveLength(1);
  });

  it('returns the beginning of a long response and reports that it was cut', async () => {
    const { address } = await fake(() => ({ body: 'a'.repeat(600_000) }));
    const answer = await sendTry(address, '', asked);
    expect([answer.cut, answer.broken, answer.body.length, answer.bytes]).toEqual([true, false, 524_288, 524_288]);
  });

  it('reports a connection that broke in the middle', async () => {
    const { address } = await fake((_request, response) => {
      response.writeHead(200, { 'Content-Length': '100' });
      response.write('half', () => response.destroy());
      return undefined;
    });
    expect(await sendTry(address, '', asked)).toMatchObject({
      status: 200,
      body: 'half',
      bytes: 4,
      cut: false,
      broken: true,
    });
  });

  it('decodes text in its own character set', async () => {
    const headers = { 'Content-Type': 'text/html; charset=ISO-8859-1' };
    const { address } = await fake(() => ({ headers, body: Buffer.from('<p>Grüße</p>', 'latin1') }));
    expect(await sendTry(address, '', asked)).toMatchObject({ text: true, body: '<p>Grüße</p>', bytes: 12 });
  });

  it('omits an incomplete character at the cut', async () => {
    const { address } = await fake(() => ({ body: `a${'é'.repeat(300_000)}` }));
    const answer = await sendTry(address, '', asked);
    expect([answer.text, answer.cut, answer.body.length]).toEqual([true, true, 262_144]);
  });

  it.each([
    ['an image', { 'Content-Type': 'image/png' }, Buffer.from([0x89, 0x50, 0x4e, 0x47, 0xff])],
    ['bytes with zeros', { 'Content-Type': 'text/plain' }, Buffer.from('a\0b')],
    ['what is compressed', { 'Content-Encoding': 'gzip' }, Buffer.from('not looked at')],
    ['a set that nobody knows', { 'Content-Type': 'text/plain; charset=x-none' }, Buffer.from('a')],
  ])('does not show as text what is none: %s', async (_, headers, body) => {
    const { address } = await fake(() => ({ headers, body }));
    expect(await sendTry(address, '', asked)).toMatchObject({ text: false, body: '', bytes: body.length });
  });

  it('fails if nothing responds', async () => {
    await expect(sendTry({ host: '127.0.0.1', port: 1 }, '', asked)).rejects.toThrow();
  });
});

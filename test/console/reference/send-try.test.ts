import { describe, expect, it } from 'vitest';
import { sendTry } from '../../../src/console/reference/send-try.ts';
import { startFakeUpstream } from '../../builders/fake-upstream.ts';

const asked = { method: 'GET', target: '/services/v2/a.json', headers: {}, body: undefined };

async function fake(...[handler]: Parameters<typeof startFakeUpstream>) {
  const server = await startFakeUpstream(handler);
  const { hostname: host, port } = new URL(server.url);
  return { requests: server.requests, address: { host, port: Number(port) } };
}

describe('trying a request', () => {
  it('sends it as it was asked for, below the base path, and tells what came back', async () => {
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

  it('follows no redirect', async () => {
    const { address, requests } = await fake(() => ({ status: 302, headers: { Location: 'http://192.0.2.1/' } }));
    expect(await sendTry(address, '', asked)).toMatchObject({ status: 302 });
    expect(requests).toHaveLength(1);
  });

  it('shows the beginning of a long answer and says that it was cut', async () => {
    const { address } = await fake(() => ({ body: 'a'.repeat(600_000) }));
    const answer = await sendTry(address, '', asked);
    expect([answer.cut, answer.body.length]).toEqual([true, 512 * 1024]);
  });

  it('says so where the connection broke in the middle', async () => {
    const { address } = await fake((_request, response) => {
      response.writeHead(200, { 'Content-Length': '100' });
      response.write('half', () => response.destroy());
      return undefined;
    });
    expect(await sendTry(address, '', asked)).toMatchObject({ status: 200, body: 'half', cut: true });
  });

  it('fails where nothing answers', async () => {
    await expect(sendTry({ host: '127.0.0.1', port: 1 }, '', asked)).rejects.toThrow();
  });
});

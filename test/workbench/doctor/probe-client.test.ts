import { describe, expect, it } from 'vitest';
import { startFakeUpstream } from '../../builders/fake-upstream.ts';
import { AUTHORIZATION, clientOf, healthy, LIST } from './probe-setting.ts';

describe('the client of the doctor', () => {
  // The doctor examines production servers, so a mistake in a probe must never change anything on the server.
  it('refuses every method but GET and HEAD', async () => {
    const server = await startFakeUpstream(healthy);
    const client = clientOf(server.url);
    for (const method of ['POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS', 'get'])
      await expect(client.send({ method: method as 'GET', path: LIST })).rejects.toThrow('a probe may only read');
    expect(server.requests).toEqual([]);
  });

  it('sends no more requests than it is allowed to, under whatever address', async () => {
    const server = await startFakeUpstream(healthy);
    const client = clientOf(server.url, { maxRequests: 2 });
    await client.send({ path: LIST });
    await client.at(client.origin, '/qa').send({ path: LIST });
    await expect(client.send({ path: LIST })).rejects.toThrow('all 2 requests have been made');
    expect(server.requests).toHaveLength(2);
    expect(client.sent()).toBe(2);
  });

  it('sends the credential of the operator, none, or another one', async () => {
    const server = await startFakeUpstream(healthy);
    const client = clientOf(server.url);
    await client.send({ path: LIST });
    await client.send({ path: LIST, credential: 'none' });
    await client.send({ path: LIST, credential: { authorization: 'Basic eDp5' } });
    expect(server.requests.map(({ headers }) => headers.authorization)).toEqual([
      AUTHORIZATION,
      undefined,
      'Basic eDp5',
    ]);
  });

  it('keeps repeated headers and the coding of the body', async () => {
    const server = await startFakeUpstream(() => ({
      headers: { 'X-A': ['1', '2'], 'Content-Encoding': 'x' },
      body: 'y',
    }));
    const response = await clientOf(server.url).send({ path: LIST });
    if (response.kind === 'failure') throw new Error('no response');
    expect(response.headers.filter(([name]) => name === 'X-A')).toEqual([
      ['X-A', '1'],
      ['X-A', '2'],
    ]);
    expect(response.body.toString()).toBe('y');
  });

  it('does not read endless bodies', async () => {
    const chunk = Buffer.alloc(1024 * 1024, 'x');
    const server = await startFakeUpstream((_request, response) => {
      const write = () => {
        while (!response.destroyed && response.write(chunk));
      };
      response.on('drain', write).on('error', () => undefined);
      write();
      return undefined;
    });
    const result = await clientOf(server.url).send({ path: LIST });
    expect(result).toMatchObject({ kind: 'failure', facts: { cause: 'http_response_body_size' } });
  });
});

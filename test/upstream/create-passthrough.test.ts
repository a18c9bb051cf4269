import { describe, expect, it } from 'vitest';
import { startGateway } from './support/gateway.ts';
import { reply, startRawServer } from './support/raw-server.ts';

describe('passthrough', () => {
  it('streams request and answer', async () => {
    const server = await startRawServer((request) => reply(request, 201, 'made', 'X-Twice: 1', 'X-Twice: 2'));
    const gateway = await startGateway(server.origin, { basePath: '/qa' });
    const answer = await fetch(`${gateway.origin}/services/v2/node.json?a=%2F`, { method: 'POST', body: 'new' });
    expect(answer.status).toBe(201);
    expect(answer.headers.get('x-twice')).toBe('1, 2');
    expect(await answer.text()).toBe('made');
    expect(server.requests[0]?.head).toMatch(/^POST \/qa\/services\/v2\/node\.json\?a=%2F HTTP/);
    expect(server.requests[0]?.body).toBe('new');
    expect(gateway.results).toEqual([{ status: 201, bytes: 4 }]);
  });
});

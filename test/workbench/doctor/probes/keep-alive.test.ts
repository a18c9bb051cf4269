import { describe, expect, it } from 'vitest';
import { keepAliveProbe } from '../../../../src/workbench/doctor/probes/keep-alive.ts';
import { runProbe, runProbeAt, startRawServer, texts, valueOf, withHeaders } from '../probe-setting.ts';

describe('the keep-alive probe', () => {
  it('measures how long an idle connection lives, and recommends less', async () => {
    const url = await startRawServer((socket) => {
      let count = 0;
      socket.on('data', () => {
        count += 1;
        socket.write('HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n[]');
        if (count === 2) setTimeout(() => socket.end(), 150);
      });
    });
    const result = await runProbeAt(url, keepAliveProbe, { idleMs: 60_000 });
    // On a busy machine, the response or the close may be noticed late, so the measured time is only approximate.
    const [, measured = ''] = /closed an idle connection after (\d+) ms/.exec(result.facts.join()) ?? [];
    const ms = Number(measured);
    expect(measured).not.toBe('');
    expect(valueOf(result, 'upstream.idleTimeoutMs')).toBe(Math.max(1, Math.floor(ms * 0.8)));
    expect(texts(result)).toEqual(ms < 2000 ? [`medium: Idle connections are closed after ${ms} ms.`] : []);
  });

  it('reports a server that closes the connection after each response', async () => {
    const result = await runProbe(keepAliveProbe, withHeaders({ Connection: 'close' }));
    expect(texts(result)).toEqual(['medium: The server closes the connection after each response.']);
  });

  it('reports a server that closes connections after a few requests', async () => {
    const headers = { Connection: 'keep-alive', 'Keep-Alive': 'timeout=20, max=5' };
    expect(texts(await runProbe(keepAliveProbe, withHeaders(headers), { idleMs: 100 }))).toEqual([
      'low: The server closes a connection after about 5 more requests (Keep-Alive: max).',
    ]);
  });

  it('believes a hint that is shorter than the limit of the measurement', async () => {
    const result = await runProbe(
      keepAliveProbe,
      withHeaders({ Connection: 'keep-alive', 'Keep-Alive': 'timeout=1' }),
      {
        idleMs: 1500,
      },
    );
    expect(valueOf(result, 'upstream.idleTimeoutMs')).toBeLessThanOrEqual(800);
  });

  // A firewall that forgets idle connections drops their packets or resets the connections, but does not close them.
  it('finds idle connections that no longer work although nobody closed them', async () => {
    const url = await startRawServer((socket) => {
      let count = 0;
      socket.on('data', () => {
        count += 1;
        if (count > 2) socket.resetAndDestroy();
        else socket.write('HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n[]');
      });
    });
    expect(texts(await runProbeAt(url, keepAliveProbe, { idleMs: 100 }))).toEqual([
      'high: Idle connections stop working without being closed.',
    ]);
  });
});

import { describe, expect, it } from 'vitest';
import { concurrencyProbe } from '../../../../src/workbench/doctor/probes/concurrency.ts';
import type { ProbeResponse } from '../../../../src/workbench/doctor/probe-client.ts';
import { startFakeUpstream } from '../../../builders/fake-upstream.ts';
import { clientOf, healthy, runProbe, runProbeAt, texts, valueOf } from '../probe-setting.ts';

/**
 * Runs the probe against a healthy server. The number of requests in flight determines their status and how long they
 * seem to take, because real measurements would be unreliable on a busy machine.
 */
async function probing(measure: (inFlight: number) => Pick<ProbeResponse, 'ms' | 'status'>, maxConcurrency: number) {
  const { url } = await startFakeUpstream(healthy);
  const client = clientOf(url);
  let inFlight = 0;
  let most = 0;
  const send: typeof client.send = async (request) => {
    inFlight += 1;
    most = Math.max(most, inFlight);
    const measured = measure(inFlight);
    const sent = await client.send(request);
    inFlight -= 1;
    return sent.kind === 'response' ? { ...sent, ...measured } : sent;
  };
  const result = await runProbeAt(url, concurrencyProbe, { client: { ...client, send }, maxConcurrency });
  return { result, most };
}

describe('the concurrency probe', () => {
  it('stops at the first failure, and recommends what the server can handle', async () => {
    const { result, most } = await probing((inFlight) => ({ ms: 20, status: inFlight > 2 ? 503 : 200 }), 64);
    expect(valueOf(result, 'upstream.concurrency')).toBe(2);
    expect(texts(result).join()).toMatch(/With 4 concurrent requests, a request got 503/);
    // The probe did not increase the load any further. With up to 8 concurrent requests, only a failure stops the
    // probe.
    expect(most).toBe(4);
  });

  it('stops when requests become much slower', async () => {
    const { result } = await probing((inFlight) => ({ ms: inFlight > 2 ? 400 : 5, status: 200 }), 8);
    expect(texts(result).join()).toMatch(/high: With 4 concurrent requests, requests take 400 ms instead of 5/);
  });

  it('never exceeds the allowed concurrency', async () => {
    let active = 0;
    let most = 0;
    await runProbe(
      concurrencyProbe,
      async (request, response) => {
        active += 1;
        most = Math.max(most, active);
        await new Promise((resolve) => setTimeout(resolve, 5));
        active -= 1;
        return healthy(request, response);
      },
      { maxConcurrency: 3 },
    );
    expect(most).toBeLessThanOrEqual(3);
  });

  it('recommends nothing if requests fail even one at a time', async () => {
    let count = 0;
    const result = await runProbe(concurrencyProbe, (request, response) => {
      count += 1;
      return count > 3 ? { status: 500 } : healthy(request, response);
    });
    expect(texts(result)).toEqual(['high: Even one at a time, a request got 500.']);
    expect(result.recommendations).toEqual([]);
  });

  it('says that more was not tried if the server handles everything', async () => {
    const result = await runProbe(concurrencyProbe, healthy, { maxConcurrency: 1 });
    expect(result.recommendations).toEqual([
      {
        key: 'upstream.concurrency',
        value: 1,
        reason: 'The server can handle 1 concurrent request; no more were tried (--concurrency-max).',
      },
    ]);
  });
});

import { describe, expect, it } from 'vitest';
import { concurrencyProbe } from '../../../src/doctor/probes/concurrency.ts';
import { healthy, page, runProbe, texts, valueOf } from '../probe-setting.ts';

describe('the concurrency probe', () => {
  it('stops at the first failure, and recommends what the server can handle', async () => {
    let active = 0;
    let most = 0;
    const result = await runProbe(
      concurrencyProbe,
      async ({ query }) => {
        active += 1;
        most = Math.max(most, active);
        const isTooMany = active > 4;
        await new Promise((resolve) => setTimeout(resolve, 20));
        active -= 1;
        return isTooMany ? { status: 503 } : { json: page(query) };
      },
      { maxConcurrency: 64 },
    );
    expect(valueOf(result, 'upstream.concurrency')).toBe(4);
    expect(texts(result).join()).toMatch(/With 8 concurrent requests, a request got 503/);
    // The server was never loaded further.
    expect(most).toBeLessThanOrEqual(8);
  });

  it('stops when requests become much slower', async () => {
    let active = 0;
    const result = await runProbe(
      concurrencyProbe,
      async ({ query }) => {
        active += 1;
        await new Promise((resolve) => setTimeout(resolve, active > 2 ? 400 : 5));
        active -= 1;
        return { json: page(query) };
      },
      { maxConcurrency: 8 },
    );
    expect(texts(result).join()).toMatch(/high: With 4 concurrent requests, requests take \d+ ms instead of \d+/);
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

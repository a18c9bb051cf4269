import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { exampleResponse } from '../builders/example-response.ts';
import { exampleOf } from '../builders/contract-examples.ts';
import { type FakeUpstream, startFakeUpstream } from '../builders/fake-upstream.ts';
import { startTestGateway, type TestGateway } from '../builders/test-gateway.ts';

const TARGET = '/services/v2/question.json';
const VALID = 'portico_response_scans_total{outcome="valid"}';
const CLOSER = 'portico_response_scans_total{outcome="closer"}';

let fake: FakeUpstream;
beforeAll(async () => {
  fake = await startFakeUpstream(exampleResponse);
});
afterEach(() => {
  fake.handler = exampleResponse;
});

const scansOf = async (gateway: TestGateway) => [await gateway.metric(VALID), await gateway.metric(CLOSER)];

/** Makes the upstream send the example's body with these changes from now on. */
function respondWith(change: Record<string, unknown>): void {
  const body = JSON.stringify({ ...exampleOf('listQuestions'), ...change });
  fake.handler = (_req, res) => void res.setHeader('content-type', 'application/json').end(body);
}

describe('a gateway with the scanner', () => {
  it('proves valid responses on their bytes, and parses the others', async () => {
    const gateway = await startTestGateway({ upstream: fake });
    const valid = await gateway.call(`${TARGET}?page=1`);
    expect(valid.headers['contract-status']).toBe('conforming');
    expect(await scansOf(gateway)).toEqual([1, 0]);
    respondWith({ listCount: 99 });
    const broken = await gateway.call(`${TARGET}?page=2`);
    expect(broken.headers['contract-status']).not.toBe('conforming');
    expect(await scansOf(gateway)).toEqual([1, 1]);
  });

  it('does not scan if the scanner is off, while it samples traffic, or with a shadow contract', async () => {
    const configs = [{ contract: { scanner: 'off' } }, { learn: { traffic: true } }, { contract: { candidate: {} } }];
    for (const config of configs) {
      const gateway = await startTestGateway({ upstream: fake, config });
      expect((await gateway.call(TARGET)).status).toBe(200);
      expect(await scansOf(gateway)).toEqual([0, 0]);
    }
  });

  it('has the same outcome without the scanner', async () => {
    const bodies = [
      {},
      { listCount: 99 },
      { total: 1, 'a@b.example': [] },
      { pageCount: 0 },
      { error: 'x' },
      { list: null },
    ];
    const on = await startTestGateway({ upstream: fake, config: { cache: { enabled: false } } });
    const off = await startTestGateway({
      upstream: fake,
      config: { cache: { enabled: false }, contract: { scanner: 'off' } },
    });
    for (const body of bodies) {
      respondWith(body);
      const [one, other] = [await on.call(TARGET), await off.call(TARGET)];
      expect({ status: one.status, text: one.text, verdict: one.headers['contract-status'] }).toEqual({
        status: other.status,
        text: other.text,
        verdict: other.headers['contract-status'],
      });
    }
    expect(await on.metric(VALID)).toBeGreaterThan(0);
  });
});

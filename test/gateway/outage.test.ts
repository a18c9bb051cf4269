import { afterEach, describe, expect, it } from 'vitest';
import { isOutage } from '../../src/engine/model/ledger-entry.ts';
import { failures } from '../../src/workbench/report/fail-on.ts';
import { type Report, toReport } from '../../src/workbench/report/report.ts';
import { exampleResponse } from '../builders/example-response.ts';
import { type FakeHandler, type FakeUpstream, startFakeUpstream } from '../builders/fake-upstream.ts';
import { createTestClock } from '../builders/test-clock.ts';
import { startTestGateway, type TestGateway, type TestGatewayOptions } from '../builders/test-gateway.ts';

const LIST = '/services/v2/question.json';
/** Operations that never reach the upstream, because requests to it are paused. */
const INNOCENT = ['/services/v2/node/118/comment.json', '/services/v2/comment/7.json', '/services/v2/action.json'];
const broken: FakeHandler = (_request, response) => void response.destroy();

let fake: FakeUpstream;
afterEach(() => fake.close());

async function gatewayFor(handler: FakeHandler, options: Partial<TestGatewayOptions> = {}): Promise<TestGateway> {
  fake = await startFakeUpstream(handler);
  return startTestGateway({ upstream: fake, ...options });
}

/** Sends requests, one after the other, and returns the statuses once everything has been counted. */
async function statusesOf(gateway: TestGateway, targets: readonly string[]): Promise<number[]> {
  const statuses: number[] = [];
  for (const target of targets) {
    const { status, headers } = await gateway.call(target);
    // What Portico says about its own refusal is not about the contract.
    if (status === 503 || status === 504) expect(headers['contract-status']).toBeUndefined();
    await gateway.lineOf(String(headers['x-request-id']));
    statuses.push(status);
  }
  return statuses;
}

const seriesOf = async (gateway: TestGateway, name: string): Promise<string[]> => {
  const { text } = await gateway.admin('/metrics');
  return text.split('\n').filter((line) => line.startsWith(`${name}{`) && !line.endsWith(' 0'));
};

async function reportOf({ gateway: { services } }: TestGateway): Promise<Report> {
  return toReport(await services.records.snapshot(), {
    scope: { since: undefined, operation: undefined, release: undefined },
    baseline: { accepted: [] },
    placeOf: () => ({ file: '', pointer: '', line: undefined, schema: undefined }),
  });
}

/** Asserts that nothing that happened counts as a violation of the contract. */
async function expectNoViolations(gateway: TestGateway): Promise<Report> {
  const report = await reportOf(gateway);
  expect(report.groups).toEqual([]);
  expect(failures(report, [{ kind: 'new' }, { kind: 'count', least: 1 }])).toEqual([]);
  expect(await seriesOf(gateway, 'portico_contract_violations_total')).toEqual([]);
  expect(await seriesOf(gateway, 'portico_refusal_alerts_total')).toEqual([]);
  return report;
}

const pages = (count: number) => Array.from({ length: count }, (_, at) => `${LIST}?page=${at + 1}`);

describe('an outage', () => {
  it('in which the circuit opens is not a violation of any operation, neither during it nor afterwards', async () => {
    const clock = createTestClock();
    const gateway = await gatewayFor(broken, { clock });
    const failed = await statusesOf(gateway, pages(20));
    expect(new Set(failed)).toEqual(new Set([502, 503]));
    expect(await statusesOf(gateway, INNOCENT)).toEqual([503, 503, 503]);
    const report = await expectNoViolations(gateway);
    expect(report.outages.map(({ entry }) => entry.keyword)).toContain('circuit_open');
    expect(failures(report, [{ kind: 'outages' }])).toHaveLength(1);
    fake.handler = exampleResponse;
    clock.advance(120);
    expect(await statusesOf(gateway, [LIST])).toEqual([200]);
    expect(await statusesOf(gateway, INNOCENT)).toEqual([200, 200, 200]);
    await expectNoViolations(gateway);
  });

  it.each([
    [
      'broken off in the middle of a body',
      (_request, response) => {
        response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': '100' });
        response.write('{"list": [');
        response.destroy();
      },
    ],
    ['ended by a 500', () => ({ status: 500, json: { error: 'x' } })],
    [
      'ended by an HTML page and a 503',
      () => ({ status: 503, headers: { 'Content-Type': 'text/html' }, body: '<html>x' }),
    ],
    ['reset', broken],
  ] satisfies [string, FakeHandler][])(
    'whose exchanges are %s is not a violation, in any mode',
    async (_how, handler) => {
      for (const mode of ['observe', 'staging', 'strict']) {
        const gateway = await gatewayFor(handler, { config: { mode } });
        await gateway.call(LIST).catch(() => undefined);
        await gateway.call('/services/v2/comment/7.json').catch(() => undefined);
        await expect.poll(() => gateway.log.length).toBeGreaterThanOrEqual(2);
        const { outages } = await expectNoViolations(gateway);
        expect(outages.length).toBeGreaterThan(0);
        await fake.close();
      }
    },
  );

  it('in which credentials cannot be verified refuses nobody, as far as the checks are concerned', async () => {
    // The verifier's probe succeeds only for the password that the calls use.
    const verifying: FakeHandler = (request) =>
      request.user === 'admin' ? exampleResponse(request) : { status: 401, json: { error: 'wrong' } };
    const gateway = await gatewayFor(verifying, {
      real: true,
      config: { mode: 'staging', roles: { unmapped: 'delegate' } },
    });
    fake.handler = broken;
    const statuses = await statusesOf(gateway, pages(40));
    expect(new Set(statuses)).toEqual(new Set([503]));
    const { outages } = await expectNoViolations(gateway);
    expect(outages.every(({ entry }) => isOutage(entry))).toBe(true);
    expect(await gateway.metric('portico_checks_total{check="authentication",outcome="refused"}')).toBe(0);
    expect(await gateway.metric('portico_authentication_failures_total{reason="verification_unavailable"}')).toBe(40);
  });
});

import { levelsIn } from '../builders/levels-in.ts';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { violationRows } from '../../src/features/ledger/violation-rows.ts';
import { packageRoot } from '../../src/lib/package-root.ts';
import { isOutage } from '../../src/engine/model/ledger-entry.ts';
import { exampleOf } from '../builders/contract-examples.ts';
import { exampleResponse } from '../builders/example-response.ts';
import { type FakeUpstream, startFakeUpstream } from '../builders/fake-upstream.ts';
import { tempFolder } from '../builders/temp-folder.ts';
import { startTestGateway, type TestGateway } from '../builders/test-gateway.ts';
import { runInProcess } from '../cli/run-in-process.ts';

const ROLES = join(packageRoot, 'config', 'roles.yaml');
const QUESTIONS = '/services/v2/question.json';
const TOKEN = 'a-token-for-these-tests';
const METRIC = 'portico_contract_violations_total{operation="listQuestions",direction="response",category="type"';

let fake: FakeUpstream;
beforeAll(async () => {
  fake = await startFakeUpstream(exampleResponse);
});
afterAll(() => fake.close());

async function gatewayWith(baseline: string, more: object = {}): Promise<TestGateway> {
  if (!existsSync(baseline)) writeFileSync(baseline, 'accepted: []\n');
  const ladder = { promote: { minAnswers: 1 } };
  const config = { mode: 'observe', adminToken: TOKEN, contract: { baseline }, ladder, ...more };
  return startTestGateway({ upstream: fake, config });
}

const call = async (gateway: TestGateway, id: string) => {
  const response = await gateway.call(QUESTIONS, { headers: { 'X-Request-Id': id } });
  await gateway.lineOf(id);
  return response;
};

const accept = async (gateway: TestGateway, fingerprint: string) =>
  gateway.admin(`/console/api/violations/${fingerprint}/accept`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', Authorization: `Bearer ${TOKEN}` },
    body: { reason: 'known', owner: 'team q' },
  });

describe('a violation that the baseline accepts', () => {
  it('is separate in the metric, is not a violation in Contract-Status, and does not hold back the ladder', async () => {
    fake.handler = () => ({ json: { ...exampleOf('listQuestions'), pageCount: 'many' } });
    const gateway = await gatewayWith(join(tempFolder(), 'baseline.yaml'));
    const before = await call(gateway, 'before');
    const status = /^violations; count=1; worst=type; report=(\w+)$/.exec(String(before.headers['contract-status']));
    const fingerprint = status?.[1] ?? '';
    const next = async () => {
      const { services } = gateway.gateway;
      const rows = levelsIn(gateway.gateway).ladder.rows(await services.records.snapshot());
      return rows.find(({ operation, check }) => operation === 'listQuestions' && check === 'responses')?.next.kind;
    };
    expect([await gateway.metric(`${METRIC},accepted="false"}`), await next()]).toEqual([1, 'not yet']);
    expect((await accept(gateway, fingerprint)).status).toBe(200);
    const after = await call(gateway, 'after');
    expect(after.headers['contract-status']).toBe(`accepted; count=1; worst=type; report=${fingerprint}`);
    expect(await gateway.metric(`${METRIC},accepted="false"}`)).toBe(1);
    expect(await gateway.metric(`${METRIC},accepted="true"}`)).toBe(1);
    expect(await next()).toBe('ready');
  });
});

it('a baseline that cannot be written is logged with the path of the request, without its fingerprint', async () => {
  fake.handler = () => ({ json: { ...exampleOf('listQuestions'), pageCount: 'many' } });
  const baseline = join(tempFolder(), 'baseline.yaml');
  const gateway = await gatewayWith(baseline);
  const { headers } = await call(gateway, 'before');
  const fingerprint = /report=(\w+)$/.exec(String(headers['contract-status']))?.[1] ?? '';
  writeFileSync(baseline, 'accepted: {');
  expect((await accept(gateway, fingerprint)).status).toBe(500);
  const line = gateway.log.find((one) => one.includes('the console failed')) ?? '{}';
  expect(JSON.parse(line)).toMatchObject({ method: 'POST', path: '/console/api/violations/{}/accept' });
});

/** Returns the fingerprint of a failure of the upstream in the gateway's ledger. */
async function outageIn({ gateway }: TestGateway): Promise<string> {
  const { entries } = await gateway.services.records.snapshot();
  return entries.find(isOutage)?.fingerprint ?? '';
}

describe('a failure of the upstream', () => {
  it.each([
    ['a server error', { status: 500, json: { error: 'broken' } }],
    ['an error page', { status: 503, headers: { 'Content-Type': 'text/html' }, body: '<html>away</html>' }],
  ])('cannot be accepted on the console: %s', async (_what, response) => {
    fake.handler = () => response;
    const gateway = await gatewayWith(join(tempFolder(), 'baseline.yaml'));
    await call(gateway, 'failed');
    const fingerprint = await outageIn(gateway);
    const refused = await accept(gateway, fingerprint);
    expect([refused.status, refused.text]).toEqual([409, expect.stringContaining('failure of the upstream')]);
    const shown = await gateway.admin(`/console/api/violations/${fingerprint}`, {
      headers: { Authorization: `Bearer ${TOKEN}` },
    });
    const { acceptance } = JSON.parse(shown.text) as { acceptance: { reason: string } };
    expect(acceptance.reason).toContain('failure of the upstream');
  });

  it.each([
    ['a server error', { status: 500, json: { error: 'broken' } }],
    ['an error page', { status: 503, headers: { 'Content-Type': 'text/html' }, body: '<html>away</html>' }],
  ])('remains a failure if somebody has written it into the baseline: %s', async (_what, response) => {
    fake.handler = () => response;
    const folder = tempFolder();
    const baseline = join(folder, 'baseline.yaml');
    const ledger = { file: join(folder, 'ledger.db') };
    const first = await gatewayWith(baseline, { ledger });
    await call(first, 'first');
    const fingerprint = await outageIn(first);
    await first.close();
    writeFileSync(baseline, JSON.stringify({ accepted: [{ fingerprint, reason: 'known', owner: 'team q' }] }));
    const second = await gatewayWith(baseline, { ledger });
    await call(second, 'second');
    const counter = METRIC.replace('"type"', '"protocol"');
    // It is a failure of the upstream and is counted as such, and not as a violation.
    expect(await second.metric(`${counter},accepted="true"}`)).toBe(0);
    expect(await second.metric(`${counter},accepted="false"}`)).toBe(0);
    const { services } = second.gateway;
    const { entries } = await services.records.snapshot();
    const rows = violationRows(await services.records.snapshot(), second.gateway.baseline?.read(), Date.now());
    expect(entries.map((one) => one.fingerprint)).toContain(fingerprint);
    expect(rows.filter(({ accepted }) => accepted !== undefined)).toEqual([]);
    await second.close();
    const config = join(folder, 'portico.yaml');
    writeFileSync(config, JSON.stringify({ contract: { baseline }, ledger, roles: { file: ROLES } }));
    const { code, err } = await runInProcess(['check', '--config', config]);
    expect([code, err]).toEqual([
      0,
      expect.stringContaining(`has no effect: ${fingerprint} is a failure of the upstream and cannot be accepted`),
    ]);
  });
});

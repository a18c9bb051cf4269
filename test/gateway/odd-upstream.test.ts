import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SAFE_OPERATIONS, WALKED_OPERATIONS } from '../builders/operations.ts';
import { oddResponse } from '../builders/odd-upstream.ts';
import { type FakeUpstream, startFakeUpstream } from '../builders/fake-upstream.ts';
import { startTestGateway, type TestGateway } from '../builders/test-gateway.ts';
import { runInProcess } from '../cli/run-in-process.ts';

const folder = mkdtempSync(join(tmpdir(), 'portico-odd-'));
afterAll(() => rmSync(folder, { recursive: true }));
const fileOf = (name: string) => join(folder, name);

const rolesFile = fileURLToPath(new URL('../../config/roles.yaml', import.meta.url));

let fake: FakeUpstream;
beforeAll(async () => {
  fake = await startFakeUpstream(oddResponse);
});

const target = (page: number) => `/services/v2/question.json?page=${page}&pageSize=10`;

async function askPages(gateway: TestGateway, call: object = {}) {
  const replies = [];
  for (let page = 1; page <= 12; page += 1) {
    const response = await gateway.call(target(page), call);
    await gateway.lineOf(String(response.headers['x-request-id']));
    replies.push(response);
  }
  return replies;
}

async function violationsOf(gateway: TestGateway) {
  const { records: ledger } = gateway.gateway.services;
  await ledger.flush();
  const { entries } = await ledger.snapshot();
  return entries
    .filter(({ check }) => check === 'responses')
    .map(({ category, keyword, at }) => `${category} ${keyword} ${at}`)
    .toSorted();
}

/** Checks the upstream with `portico check` and returns the number of distinct violations per category. */
async function categoriesOf(name: string, config: readonly string[] = []): Promise<Readonly<Record<string, number>>> {
  const ledger = fileOf(name);
  const flags = ['--against', fake.url, '--user', 'admin', '--delay', '0', '--ledger', ledger, ...config];
  const { code, out } = await runInProcess(['check', ...flags], { PORTICO_PASSWORD: 'admin' });
  const walked = `Walked ${WALKED_OPERATIONS.length} of ${SAFE_OPERATIONS.length}`;
  expect({ code, out }).toEqual({ code: 0, out: expect.stringContaining(walked) as string });
  const report = await runInProcess(['report', '--ledger', ledger, '--format', 'json', ...config]);
  return (JSON.parse(report.out) as { summary: { categories: Record<string, number> } }).summary.categories;
}

/** Samples a gateway's traffic and writes the proposals to a file. */
async function learnFromTraffic(overlay: string) {
  const observations = fileOf('observations.json');
  const config = { learn: { traffic: true, file: observations } };
  const sampled = await startTestGateway({ upstream: fake, real: true, config });
  await askPages(sampled);
  await sampled.close();
  return runInProcess(['learn', '--observations', observations, '--output', overlay]);
}

/** Learns from the upstream with `portico learn --against` and writes the proposals to a file. */
async function learnFromWalk(overlay: string) {
  const flags = ['--against', fake.url, '--user', 'admin', '--delay', '0', '--output', overlay];
  return runInProcess(['learn', ...flags], { PORTICO_PASSWORD: 'admin' });
}

describe('an upstream with odd but legal responses', () => {
  it('has no violations other than advisories, in traffic and in a walk', async () => {
    const gateway = await startTestGateway({ upstream: fake, config: { mode: 'staging' } });
    const replies = await askPages(gateway, { user: 'alice' });
    expect(replies.map(({ status }) => status)).toEqual(replies.map(() => 200));
    expect(await violationsOf(gateway)).toEqual([
      ...['activeRevisionId', 'answerCount', 'depth', 'primaryContainerId', 'score', 'slug'].map(
        (name) => `advisory x-expected /list/*/${name}`,
      ),
      'advisory x-expected-pattern /list/*/creationDateFormatted',
      'undocumented undocumented-field /list/*/badge',
      'undocumented undocumented-field /list/*/labels',
    ]);
    expect(Object.keys(await categoriesOf('check.db')).toSorted()).toEqual(['advisory', 'undocumented']);
  });

  it.each([
    ['its traffic', learnFromTraffic],
    ['a walk', learnFromWalk],
  ])('is clean and cached with the overlay that was learned from %s', async (source, learn) => {
    const overlay = fileOf(`learned from ${source}.yaml`);
    const { code, out } = await learn(overlay);
    expect(code).toBe(0);
    // The types and envelopes of the responses are as documented.
    expect(out).not.toMatch(/different (?:type|envelope)/);
    const contract = { overlays: [overlay] };
    const gateway = await startTestGateway({ upstream: fake, config: { mode: 'staging', contract } });
    await askPages(gateway, { user: 'alice' });
    expect(await violationsOf(gateway)).toEqual([]);
    fake.requests.length = 0;
    const again = await askPages(gateway, { user: 'alice' });
    expect(again.map(({ headers }) => headers['cache-status'])).toEqual(
      again.map(() => expect.stringContaining('hit') as string),
    );
    expect(fake.requests.filter(({ path }) => path.endsWith('/question.json'))).toEqual([]);
    const config = fileOf(`${source}.yaml`);
    writeFileSync(config, JSON.stringify({ contract, roles: { file: rolesFile } }));
    expect(await categoriesOf(`${source}.db`, ['--config', config])).toEqual({});
  });
});

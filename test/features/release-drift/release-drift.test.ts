import { join } from 'node:path';
import { expect, it } from 'vitest';
import { exampleResponse } from '../../builders/example-response.ts';
import { startFakeUpstream } from '../../builders/fake-upstream.ts';
import { tempFolder } from '../../builders/temp-folder.ts';
import { startTestGateway } from '../../builders/test-gateway.ts';
import { eventually } from '../../builders/until.ts';
import { runInProcess } from '../../cli/run-in-process.ts';

interface Page {
  readonly list: readonly Record<string, unknown>[];
}

it('a release that drops an optional field from every response fails the gate and is shown everywhere', async () => {
  let release = 1;
  const upstream = await startFakeUpstream((request) => {
    const response = exampleResponse(request) as { json?: Page };
    if (release === 1 || response.json?.list === undefined) return response;
    const list = response.json.list.map(({ plug: _plug, ...item }) => item);
    return { ...response, json: { ...response.json, list } };
  });
  const ledger = join(tempFolder(), 'ledger.db');
  const config = { mode: 'observe', ledger: { file: ledger } };
  const gateway = await startTestGateway({ upstream, real: true, config: { ...config, release: '1.0' } });
  const sampled = async (name: string) =>
    (await gateway.gateway.services.records.snapshot()).statistics.find(
      (one) => one.release === name && one.operation === 'listIdeas',
    )?.counts['object /list/*'];
  // Responses are sampled after they have been sent, and count for the release that is then in use.
  const ask = async (name: string) => {
    for (let index = 0; index < 12; index += 1) await gateway.call('/services/v2/idea.json');
    await eventually(async () => (await sampled(name)) === 12);
  };
  await ask('1.0');
  release = 2;
  expect(await gateway.reload({ config: { ...config, release: '1.1' } })).toMatchObject({ outcome: 'applied' });
  await ask('1.1');

  const series = /portico_release_drift\{operation="listIdeas",drift="field-gone",fingerprint="(\w+)"\} 1/;
  const scraped = async () => series.exec((await gateway.admin('/metrics')).text)?.[1];
  expect(await scraped()).toBeUndefined();
  // A reload compares the releases at once; otherwise, they are compared every minute.
  await gateway.reload({});
  await eventually(async () => (await scraped()) !== undefined);
  const fingerprint = (await scraped()) ?? '';
  expect(gateway.log.filter((line) => line.includes(fingerprint))).toHaveLength(1);
  const shown = await gateway.admin('/console/api/violations?category=release-drift');
  expect(shown.json).toMatchObject({ rows: [{ fingerprint, at: '/list/*/plug' }] });
  await gateway.close();

  const plain = await runInProcess(['report', '--ledger', ledger, '--release', '1.1', '--fail-on', 'release-drift']);
  expect(plain.code).toBe(1);
  expect(plain.out).toContain('/list/*/plug was in all 12 sampled responses of release 1.0');
  const compared = await runInProcess(['report', '--ledger', ledger, '--compare', '1.0', '1.1', '--fail-on', 'new']);
  expect(compared.code).toBe(1);
  expect(compared.out).toMatch(/New \(\d+\)[^]*release-drift {2}listIdeas, responses, \/list\/\*\/plug/);
  expect((await runInProcess(['report', '--ledger', ledger, fingerprint])).out).toContain('release-drift');
});

it('can be taken out: the metric does not exist', async () => {
  const upstream = await startFakeUpstream(exampleResponse);
  const metrics = async (without?: string) => {
    const gateway = await startTestGateway({ upstream, ...(without !== undefined && { without }) });
    return (await gateway.admin('/metrics')).text;
  };
  expect(await metrics()).toContain('portico_release_drift{operation="none",drift="none",fingerprint="none"} 0');
  expect(await metrics('releaseDrift')).not.toContain('portico_release_drift');
});

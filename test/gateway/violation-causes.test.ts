import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { stringify } from 'yaml';
import type { CauseRow } from '../../src/features/ledger/violation-rows.ts';
import { startReferenceServer } from '../../src/reference/start-reference-server.ts';
import { tempFolder } from '../builders/temp-folder.ts';
import { startTestGateway, type TestGateway } from '../builders/test-gateway.ts';
import { runInProcess } from '../cli/run-in-process.ts';

interface List {
  readonly rows: readonly CauseRow[];
  readonly pageCount: number;
  readonly causes: number;
  readonly total: number;
}

interface ReportedViolation {
  readonly fingerprint: string;
  readonly cause: string;
  readonly count: number;
}

/** A cause as the console and the report show it. */
interface Shown {
  readonly fingerprints: readonly string[];
  readonly count: number;
}

const sorted = (causes: readonly Shown[]) =>
  causes
    .map(({ fingerprints, count }) => `${fingerprints.toSorted().join(' ')}: ${count}`)
    .toSorted((a, b) => (a < b ? -1 : 1));

const list = async (gateway: TestGateway, query: string) =>
  (await gateway.admin(`/console/api/violations?${query}`)).json as unknown as List;

/** Opens every cause on every page of the console's list. */
async function onThePage(gateway: TestGateway, query = ''): Promise<readonly Shown[]> {
  const { pageCount } = await list(gateway, query);
  const shown: Shown[] = [];
  for (let page = 1; page <= pageCount; page += 1)
    for (const { fingerprint, count } of (await list(gateway, `${query}&page=${page}`)).rows) {
      const { rows } = await list(gateway, `${query}&page=${page}&open=${fingerprint}`);
      const members = rows.find((row) => row.fingerprint === fingerprint)?.members ?? [];
      shown.push({ fingerprints: members.map((member) => member.fingerprint), count });
    }
  return shown;
}

async function inTheReport(file: string, baseline: string, ...flags: readonly string[]) {
  const { out } = await runInProcess([
    'report',
    '--ledger',
    file,
    '--baseline',
    baseline,
    '--format',
    'json',
    ...flags,
  ]);
  const { summary, violations } = JSON.parse(out) as {
    summary: { causes: number; violations: number };
    violations: readonly ReportedViolation[];
  };
  const causes = [...Map.groupBy(violations, ({ cause }) => cause).values()].map((members): Shown => {
    return {
      fingerprints: members.map(({ fingerprint }) => fingerprint),
      count: members.reduce((sum, { count }) => sum + count, 0),
    };
  });
  return { causes, summary, violations };
}

it('the list of violations on the console and the report on its ledger have the same causes', async () => {
  const chaos = ['wrong-type:creationDate', 'missing-field:author', 'extra-field:legacyScore'];
  const reference = await startReferenceServer({ complete: true, chaos });
  const folder = tempFolder();
  const [file, baseline] = [join(folder, 'ledger.db'), join(folder, 'baseline.yaml')];
  writeFileSync(baseline, 'accepted: []\n');
  const config = {
    mode: 'staging',
    ledger: { file },
    contract: { baseline },
    cache: { enabled: false },
    checks: { undocumented: 'report' },
  };
  const gateway = await startTestGateway({ upstream: reference, config });
  const targets = ['question', 'idea', 'article', 'question', 'node/3167/comment', 'tags/popular'];
  for (const [index, target] of targets.entries()) {
    const headers = { 'X-Request-Id': `call-${index}` };
    await gateway.call(`/services/v2/${target}.json?colour=red`, { user: 'moderator', headers });
    await gateway.call(`/services/v2/${target}.json`, { user: 'moderator', headers });
    await gateway.lineOf(`call-${index}`);
  }
  await gateway.gateway.services.records.flush();

  const { causes, summary, violations } = await inTheReport(file, baseline);
  const { total, causes: number, rows } = await list(gateway, '');
  expect([total, number]).toEqual([summary.violations, summary.causes]);
  // Otherwise, nothing would be grouped.
  expect(number).toBeLessThan(total);
  expect(rows.some(({ operations }) => operations > 1)).toBe(true);
  expect(sorted(await onThePage(gateway))).toEqual(sorted(causes));

  // One violation of the largest cause is accepted, so it is apart from the others.
  const [largest] = causes.toSorted((a, b) => b.fingerprints.length - a.fingerprints.length);
  const fingerprint = largest?.fingerprints[0];
  writeFileSync(baseline, stringify({ accepted: [{ fingerprint, reason: 'known', owner: 'team q' }] }));
  await gateway.reload({});
  const accepted = await inTheReport(file, baseline);
  expect(accepted.summary.causes).toBe(summary.causes + 1);
  expect(sorted(await onThePage(gateway))).toEqual(sorted(accepted.causes));

  // The filter of the page and that of the report leave the same causes.
  const one = await inTheReport(file, baseline, '--operation', 'listIdeas');
  expect(one.violations.length).toBeLessThan(violations.length);
  expect(sorted(await onThePage(gateway, 'operation=listIdeas'))).toEqual(sorted(one.causes));
  await gateway.close();
  await reference.close();
});

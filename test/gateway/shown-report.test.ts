import { join } from 'node:path';
import { expect, it } from 'vitest';
import { startReferenceServer } from '../../src/reference/start-reference-server.ts';
import { tempFolder } from '../builders/temp-folder.ts';
import { startTestGateway } from '../builders/test-gateway.ts';
import { runInProcess } from '../cli/run-in-process.ts';
import { readText, sectionOf } from '../readme/tables.ts';

/** Returns the report in docs/reports.md without its dates. */
function shownReport(): string {
  const [, shown = ''] = /```text\n(.*?)```/s.exec(sectionOf(readText('docs/reports.md'), 'An example')) ?? [];
  return withoutDays(shown);
}

const withoutDays = (text: string) => text.replaceAll(/\d{4}-\d\d-\d\d/g, 'DAY').trim();

it('the report on a drifting server matches the one in the documentation', async () => {
  const reference = await startReferenceServer({ complete: true, chaos: ['missing-field:type@6%25', 'html:500@8%10'] });
  const file = join(tempFolder(), 'ledger.db');
  const config = { mode: 'staging', ledger: { file }, cache: { enabled: false } };
  const gateway = await startTestGateway({ upstream: reference, config });
  for (let page = 1; page <= 20; page += 1) {
    await gateway.call(`/services/v2/question.json?page=${page}&pageSize=5`);
    await gateway.call(`/services/v2/idea.json?page=${page}&pageSize=5`);
  }
  await gateway.call('/services/v2/question.json?colour=red', { headers: { 'X-Request-Id': 'last' } });
  await gateway.lineOf('last');
  await gateway.close();
  await reference.close();
  const { out } = await runInProcess(['report', '--ledger', file]);
  expect(withoutDays(out)).toContain(shownReport());
  expect(shownReport()).toContain('distinct violations');
});

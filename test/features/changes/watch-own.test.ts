import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { pino } from 'pino';
import { afterEach, expect, it } from 'vitest';
import type { LedgerEntry, LedgerReader } from '../../../src/engine/model/ledger-entry.ts';
import { openSqliteStore } from '../../../src/features/changes/sqlite-store.ts';
import { createOwnWatch } from '../../../src/features/changes/watch-own.ts';
import { cleanUpAfterTest } from '../../builders/clean-up.ts';
import { closeServer } from '../../builders/close-server.ts';
import { exampleOf } from '../../builders/contract-examples.ts';
import { startFakeUpstream } from '../../builders/fake-upstream.ts';
import { tempFolder } from '../../builders/temp-folder.ts';
import { createTestClock } from '../../builders/test-clock.ts';
import { startTestGateway, type TestGateway } from '../../builders/test-gateway.ts';
import { eventually } from '../../builders/until.ts';
import { entryWith } from '../../workbench/report/report-fixtures.ts';

const running: TestGateway[] = [];
afterEach(() => Promise.all(running.splice(0).map((one) => one.close())));

/** What the watch has stored. */
interface Told {
  readonly fingerprints: readonly string[];
  readonly lowered: readonly string[];
}

/** Starts a gateway with a webhook for a chat, and an upstream that returns the questions that the test sets. */
async function start(config: object = {}) {
  const texts: string[] = [];
  const server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      texts.push((JSON.parse(Buffer.concat(parts).toString()) as { text: string }).text);
      response.writeHead(200).end();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  cleanUpAfterTest(() => closeServer(server));
  const folder = tempFolder();
  const secrets = join(folder, 'secrets');
  mkdirSync(secrets);
  const { port } = server.address() as AddressInfo;
  writeFileSync(join(secrets, 'team.url'), `http://127.0.0.1:${port}/needle-secret\n`, { mode: 0o600 });
  const page = { current: exampleOf('listQuestions') as unknown as Record<string, unknown> };
  const upstream = await startFakeUpstream(() => ({ json: page.current }));
  const clock = createTestClock();
  const gateway = await startTestGateway({
    upstream,
    clock,
    config: {
      cache: { enabled: false },
      ...config,
      changes: {
        lists: [],
        folder: join(folder, 'changes'),
        secrets,
        allowPrivate: ['127.0.0.0/8'],
        webhooks: [{ name: 'team', format: 'slack' }],
      },
    },
  });
  running.push(gateway);
  const database = new DatabaseSync(join(folder, 'changes', 'feed.db'), { readOnly: true });
  cleanUpAfterTest(() => database.close());
  const document = database.prepare('SELECT text FROM documents WHERE name = ?');
  /** Advances the clock until the feed has looked for news, and stored something of which this is true. */
  const looked = (isSo: (told: Told) => boolean) =>
    eventually(() => {
      clock.advance(1);
      const text = document.get('own')?.['text'];
      return typeof text === 'string' && isSo(JSON.parse(text) as Told);
    });
  // What is in the ledger when the feed looks for the first time is not new, and neither is what a webhook does not know.
  await looked(() => true);
  await eventually(() => document.get('webhook:team') !== undefined);
  return { gateway, page, texts, looked };
}

it('what is in the ledger when the feed looks for the first time is not new', async () => {
  const clock = createTestClock();
  const store = openSqliteStore(':memory:', { maxEvents: 100, retentionMs: 1e9 });
  cleanUpAfterTest(() => store.close());
  const entries: LedgerEntry[] = [];
  const watch = createOwnWatch({
    records: { snapshot: async () => Promise.resolve({ entries }) } as unknown as LedgerReader,
    isAccepted: () => false,
    gateway: () => ({ checksOf: () => ({}) }) as never,
    logger: pino({ enabled: false }),
    operations: [],
    settings: { checksFor: () => ({}) as never },
    store,
    turns: { isMine: async () => Promise.resolve(true) },
    clock,
  });
  const add = (fingerprint: string) => entries.push(entryWith({ fingerprint, direction: 'response' }));
  add('before');
  await watch.tick();
  add('after');
  await watch.tick();
  expect(await store.after(0, 10)).toEqual([]);
  clock.advance(20);
  await watch.tick();
  expect((await store.after(0, 10)).map(({ target }) => target.id)).toEqual(['after']);
});

const broken = (field: string) => ({ ...(exampleOf('listQuestions') as object), [field]: 'wrong' });

it('a chat learns of each new violation in responses once, whatever the number of requests', async () => {
  const { gateway, page, texts, looked } = await start();
  const violate = async (field: string) => {
    page.current = broken(field);
    for (let count = 0; count < 20; count += 1) await gateway.call('/services/v2/question.json');
  };
  await violate('pageSize');
  await looked(({ fingerprints }) => fingerprints.length === 1);
  await violate('pageSize');
  await violate('totalCount');
  await looked(({ fingerprints }) => fingerprints.length === 2);
  // Messages are sent in order, so once there is one about the later violation, none about the earlier one is to come.
  await eventually(() => texts.some((text) => text.includes('/totalCount')));
  expect(texts).toHaveLength(2);
  expect(texts[0]).toMatch(
    /^Portico: new violation in responses of listQuestions at \/pageSize: .* \(type, [0-9a-f]{16}\)$/,
  );
  expect(gateway.log.join('')).not.toContain('needle-secret');
  expect((await gateway.admin('/metrics')).text).not.toContain('needle-secret');
});

it('a chat learns that responses are no longer enforced', async () => {
  const demote = { enabled: true, share: 0.5, windowSeconds: 60, minAnswers: 20 };
  const { gateway, page, texts, looked } = await start({ checks: { responses: 'enforce' }, levels: { demote } });
  page.current = broken('totalCount');
  for (let count = 0; count < 60; count += 1) await gateway.call(`/services/v2/question.json?q=${count}`);
  await looked(({ lowered }) => lowered.length > 0);
  const about = () => texts.filter((text) => text.includes('no longer enforced'));
  await eventually(() => about().length > 0);
  expect(about()).toEqual(['Portico: responses of listQuestions are no longer enforced; see portico ladder']);
});

import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { cleanUpAfterTest } from '../../builders/clean-up.ts';
import { closeServer } from '../../builders/close-server.ts';
import { exampleOf } from '../../builders/contract-examples.ts';
import { startFakeUpstream } from '../../builders/fake-upstream.ts';
import { tempFolder } from '../../builders/temp-folder.ts';
import { createTestClock } from '../../builders/test-clock.ts';
import { startTestGateway, type TestGateway } from '../../builders/test-gateway.ts';
import { eventually, until } from '../../builders/until.ts';

const running: TestGateway[] = [];
afterEach(() => Promise.all(running.splice(0).map((one) => one.close())));

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
  const secrets = join(tempFolder(), 'secrets');
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
        folder: ':memory:',
        secrets,
        allowPrivate: ['127.0.0.0/8'],
        webhooks: [{ name: 'team', format: 'slack' }],
      },
    },
  });
  running.push(gateway);
  /** Advances the clock until the feed has looked for news again. */
  const look = async (seconds = 40) => {
    for (let left = seconds; left > 0; left -= 10) {
      clock.advance(10);
      const before = await gateway.metric('portico_scrape_duration_seconds');
      await eventually(async () => (await gateway.metric('portico_scrape_duration_seconds')) !== before);
      await new Promise((resolve) => setTimeout(resolve, 600));
    }
  };
  return { gateway, clock, page, texts, look };
}

const broken = (field: string) => ({ ...(exampleOf('listQuestions') as object), [field]: 'wrong' });

it('a chat learns of each new violation in responses once, whatever the number of requests', async () => {
  const { gateway, page, texts, look } = await start();
  page.current = broken('totalCount');
  await gateway.call('/services/v2/question.json');
  await look(20);
  // What is in the ledger when the feed looks for the first time is not new.
  page.current = broken('pageSize');
  for (let count = 0; count < 20; count += 1) await gateway.call('/services/v2/question.json');
  await look();
  await until(() => texts.length > 0);
  await look();
  expect(texts.filter((text) => text.includes('/pageSize'))).toHaveLength(1);
  expect(texts.find((text) => text.includes('/pageSize'))).toMatch(
    /^Portico: new violation in responses of listQuestions at \/pageSize: .* \(type, [0-9a-f]{16}\)$/,
  );
  expect(gateway.log.join('')).not.toContain('needle-secret');
  expect((await gateway.admin('/metrics')).text).not.toContain('needle-secret');
});

it('a chat learns that responses are no longer enforced', async () => {
  const demote = { enabled: true, share: 0.5, windowSeconds: 60, minAnswers: 20 };
  const { gateway, page, texts, look } = await start({ checks: { responses: 'enforce' }, levels: { demote } }).catch(
    (error: Error) => {
      throw new Error(error.message);
    },
  );
  await look(20);
  page.current = broken('totalCount');
  for (let count = 0; count < 60; count += 1) await gateway.call(`/services/v2/question.json?q=${count}`);
  await look();
  await until(() => texts.some((text) => text.includes('no longer enforced')));
  expect(texts.filter((text) => text.includes('no longer enforced'))).toEqual([
    'Portico: responses of listQuestions are no longer enforced; see portico ladder',
  ]);
});

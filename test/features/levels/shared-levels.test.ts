import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, it } from 'vitest';
import {
  formatFormerLadder,
  formatFormerOverrides,
  parseFormerLadder,
  parseFormerOverrides,
} from '../../../src/features/levels/former-files.ts';
import type { LevelEntry, LevelsState } from '../../../src/features/levels/level-entry.ts';
import { exampleResponse } from '../../builders/example-response.ts';
import { type FakeUpstream, startFakeUpstream } from '../../builders/fake-upstream.ts';
import { sharedBy, startFleet } from '../../builders/fleet.ts';
import { levelsIn } from '../../builders/levels-in.ts';
import { needsProgram } from '../../builders/needs-program.ts';
import { type RedisServer, startRedisServer } from '../../builders/redis-server.ts';
import { createTestClock } from '../../builders/test-clock.ts';
import { startTestGateway, type TestGateway } from '../../builders/test-gateway.ts';
import { until } from '../../builders/until.ts';
import { type EditedDocument, editDocumentInRedis } from '../../../src/engine/sharing/redis/redis-document.ts';
import { overlayFile } from '../../engine/contract/overlay/overlay-file.ts';
import { decisionWith, overrideWith } from './entries.ts';

const ENFORCED = { operations: { listIdeas: { checks: { responses: 'enforce' } } } };
const SET = { operation: 'listIdeas', kind: 'disable', reason: 'INC-17', forMinutes: 60 };

needsProgram('redis', 'the documents of an earlier version', (path) => {
  let server: RedisServer;
  let upstream: FakeUpstream;
  const clock = createTestClock(Date.parse('2026-05-04T12:00:00Z'));
  beforeEach(async () => {
    server = await startRedisServer(path);
    upstream = await startFakeUpstream(exampleResponse);
  });
  const start = async (): Promise<TestGateway> => {
    const [gateway] = await startFleet(1, server, upstream, { clock, config: ENFORCED });
    if (gateway === undefined) throw new Error('there is no gateway');
    return gateway;
  };
  const subjects = (gateway: TestGateway) =>
    levelsIn(gateway.gateway)
      .store.state()
      .entries.map(({ source, operation }) => `${source} ${operation}`);

  /**
   * Changes a document as a gateway of an earlier version does. On a busy machine, Redis may be slow to reply, or the
   * document may not exist yet.
   */
  const editDocument = async <T>(
    gateway: TestGateway,
    document: EditedDocument<T>,
    edit: (now: T) => T,
  ): Promise<T> => {
    for (;;) {
      const edited = await editDocumentInRedis(gateway.gateway.settings.redis, document, edit);
      if (edited !== 'new' && edited !== 'unreachable') return edited;
    }
  };
  const editOverrides = (gateway: TestGateway, edit: (entries: readonly LevelEntry[]) => readonly LevelEntry[]) =>
    editDocument(
      gateway,
      { name: 'overrides', version: '', format: formatFormerOverrides, parse: parseFormerOverrides },
      edit,
    );
  const editLadder = (gateway: TestGateway, edit: (state: LevelsState) => LevelsState) => {
    const { contract } = levelsIn(gateway.gateway).store.contract();
    const document = { name: 'ladder', version: contract, format: formatFormerLadder, parse: parseFormerLadder };
    return editDocument(gateway, document, edit);
  };
  const overridesIn = async (gateway: TestGateway) =>
    (await editOverrides(gateway, (same) => same)).map(({ operation }) => operation);

  it('are adopted by the first gateway of this version', async () => {
    const probe = await start();
    const { redis } = sharedBy(probe);
    const { contract } = levelsIn(probe.gateway).store.contract();
    const [ladder, overrides] = ['ladder.json', 'overrides.json'].map((name) =>
      readFileSync(join(import.meta.dirname, 'former', name), 'utf8').replace('6da2a601cd8f', contract),
    );
    for (const [key, text] of [
      [redis.key('documents', 'ladder', contract), ladder],
      [redis.key('documents', 'overrides'), overrides],
    ] as const)
      await redis.command(key, ['HSET', key, 'version', 'r', 'origin', 'r', 'text', text ?? '']);
    for (const key of [redis.key('documents', 'levels')]) await redis.command(key, ['DEL', key]);
    const gateway = await start();
    await until(() => subjects(gateway).length === 6);
    expect(gateway.gateway.gateway.plans.get('listIdeas')?.checks).toMatchObject({
      responses: 'report',
      requests: 'report',
    });
    expect(gateway.gateway.gateway.plans.get('listActions')?.disabled).toBeDefined();
  });

  it('and gateways of both versions in one fleet apply the same overrides', async () => {
    const gateway = await start();
    const set = overrideWith({ operation: 'listQuestions', since: clock(), until: clock() + 3_600_000 });
    await editOverrides(gateway, (entries) => [...entries, set]);
    await until(() => subjects(gateway).includes('operator listQuestions'));
    expect((await gateway.call('/services/v2/question.json')).status).toBe(503);

    expect((await gateway.admin('/levels', { method: 'POST', body: SET })).json).toMatchObject({ stored: true });
    await expect.poll(() => overridesIn(gateway)).toEqual(['listQuestions', 'listIdeas'].toSorted());

    // Each version ends an override that the other has set.
    await editOverrides(gateway, (entries) => entries.filter(({ operation }) => operation !== 'listIdeas'));
    await until(() => !subjects(gateway).includes('operator listIdeas'));
    expect((await gateway.call('/services/v2/idea.json')).status).toBe(200);
    await gateway.admin('/levels/end', { method: 'POST', body: { operation: 'listQuestions' } });
    await expect.poll(() => overridesIn(gateway)).toEqual([]);
  });

  it('and gateways of both versions in one fleet apply the same demotions', async () => {
    const gateway = await start();
    const { contract } = levelsIn(gateway.gateway).store.contract();
    const demoted = decisionWith({ contract, since: clock() });
    await editLadder(gateway, (state) => ({ ...state, entries: [demoted] }));
    await until(() => subjects(gateway).includes('ladder listIdeas'));
    expect(gateway.gateway.gateway.plans.get('listIdeas')?.checks.responses).toBe('report');
    const lifted = { operation: 'listIdeas', check: 'responses' };
    expect((await gateway.admin('/levels/lift', { method: 'POST', body: lifted })).status).toBe(200);
    await expect.poll(async () => (await editLadder(gateway, (same) => same)).entries).toEqual([]);
  });
});

needsProgram('redis', 'the document of the levels', (path) => {
  it('serves gateways with two versions of the contract, each with its own decisions, and shares the overrides', async () => {
    const server = await startRedisServer(path);
    const upstream = await startFakeUpstream(exampleResponse);
    const clock = createTestClock();
    const [a] = (await startFleet(1, server, upstream, { clock, config: ENFORCED })) as [TestGateway];
    const overlay = overlayFile({ target: '$.components.schemas.Node.properties.type', update: { enum: ['idea'] } });
    const other = { ...ENFORCED, redis: { url: server.url }, contract: { overlays: [overlay] } };
    const b = await startTestGateway({ upstream, clock, config: other });
    const [own, theirs] = [a, b].map(({ gateway }) => levelsIn(gateway).store.contract().contract);
    expect(own).not.toBe(theirs);
    levelsIn(a.gateway).store.replace(undefined, decisionWith({ contract: own ?? '', since: clock() }));
    await a.admin('/levels', { method: 'POST', body: SET });
    await until(() => levelsIn(b.gateway).store.state().entries.length === 2);
    expect(levelsIn(b.gateway).store.decisions()).toEqual([]);
    expect(b.gateway.gateway.plans.get('listIdeas')?.checks.responses).toBe('enforce');
    expect(b.gateway.gateway.plans.get('listIdeas')?.disabled).toBeDefined();
    expect(a.gateway.gateway.plans.get('listIdeas')?.checks.responses).toBe('report');
  });
});

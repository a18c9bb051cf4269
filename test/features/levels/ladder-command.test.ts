import { levelsIn } from '../../builders/levels-in.ts';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { PROGRAM } from '../../../src/cli/commands.ts';
import { runProgram } from '../../../src/cli/run-program.ts';
import { readLevelsFile, writeLevelsFile } from '../../../src/features/levels/levels-file.ts';
import { exampleResponse } from '../../builders/example-response.ts';
import { startFakeUpstream } from '../../builders/fake-upstream.ts';
import { startFleet } from '../../builders/fleet.ts';
import { needsProgram } from '../../builders/needs-program.ts';
import { PATIENT, startRedisServer } from '../../builders/redis-server.ts';
import { startTestGateway, type TestGateway } from '../../builders/test-gateway.ts';
import { until } from '../../builders/until.ts';
import { processIoOf } from '../../cli/process-io-of.ts';
import { decisionWith } from './entries.ts';

const root = mkdtempSync(join(tmpdir(), 'portico-ladder-command-'));
afterAll(() => rmSync(root, { recursive: true }));

let number = 0;
let folder: string;
let levelsFile: string;
let ledgerFile: string;
beforeEach(() => {
  more = {};
  number += 1;
  folder = join(root, String(number));
  levelsFile = join(folder, 'levels.json');
  ledgerFile = join(folder, 'ledger.db');
});

/**
 * Sends requests through a gateway and then closes the gateway, so that its files are available to the command. Returns
 * the contract's id.
 */
async function serveOnce(count: number, drift = false): Promise<string> {
  const upstream = await startFakeUpstream((request) =>
    drift ? { json: { list: [], listCount: 'none' } } : exampleResponse(request),
  );
  const gateway = await startTestGateway({
    upstream,
    config: {
      operations: { listIdeas: { checks: { responses: 'enforce' } } },
      cache: { enabled: false },
      ledger: { file: ledgerFile },
      levels: { file: levelsFile, demote: { share: 0.5, minAnswers: 4 } },
    },
  });
  for (let index = 0; index < count; index += 1) {
    await gateway.call('/services/v2/idea.json');
    await gateway.call('/services/v2/question.json');
  }
  const { contract } = levelsIn(gateway.gateway).store.contract();
  await gateway.close();
  return contract;
}

/** Additional settings for the command. */
let more: object = {};

async function ladder(...flags: string[]) {
  const config = join(root, `${number}.yaml`);
  const settings = {
    roles: { file: fileURLToPath(new URL('../../../config/roles.yaml', import.meta.url)) },
    operations: { listIdeas: { checks: { responses: 'enforce' } } },
    ledger: { file: ledgerFile },
    levels: { file: levelsFile, promote: { minAnswers: 3 } },
    ...more,
  };
  writeFileSync(config, JSON.stringify(settings));
  const io = processIoOf(root);
  const code = await runProgram(PROGRAM, ['ladder', '--config', config, ...flags], io.io);
  return { code, ...io.text };
}

const rowsOf = (out: string) =>
  (JSON.parse(out) as { rows: { operation: string; check: string }[] }).rows.filter(
    ({ check }) => check === 'responses',
  );

describe('portico ladder', () => {
  it('shows levels, counts and the next step of a gateway that has run', async () => {
    await serveOnce(3);
    const { code, out } = await ladder('--format', 'json');
    expect(code).toBe(0);
    const rows = rowsOf(out);
    expect(rows.find((row) => row.operation === 'listIdeas')).toMatchObject({
      configured: 'enforce',
      effective: 'enforce',
      clean: 3,
      refused: 0,
      next: 'enforced',
      moved: null,
    });
    expect(rows.find((row) => row.operation === 'listQuestions')).toMatchObject({
      effective: 'report',
      clean: 3,
      wouldHaveRefused: 0,
      next: 'ready',
      why: 'ready: 3 checked, 0 would have been refused in 7 d',
    });
    const table = await ladder('--operation', 'listQuestions');
    expect(table.out).toContain('ready: 3 checked, 0 would have been refused in 7 d');
    expect(table.out).not.toContain('listIdeas');
  });

  it('shows a demotion, and undoes it for the next start', async () => {
    await serveOnce(5, true);
    const shown = rowsOf((await ladder('--format', 'json')).out).find((row) => row.operation === 'listIdeas');
    expect(shown).toMatchObject({ configured: 'enforce', effective: 'report', refused: 4, next: 'demoted' });
    expect(shown).toMatchObject({
      moved: { move: 'demoted', why: expect.stringContaining('4 of 4 responses') as string },
    });
    const lifted = await ladder('--lift', 'listIdeas:responses');
    expect(lifted).toMatchObject({ code: 0, out: expect.stringContaining('listIdeas responses') as string });
    expect(readLevelsFile(levelsFile)?.entries).toEqual([]);
    expect((await ladder('--lift', 'listIdeas')).code).toBe(1);
  });

  it('warns if the levels file belongs to a different contract than the one in the shell', async () => {
    await writeLevelsFile(levelsFile, {
      contracts: [{ contract: 'another', since: 0 }],
      entries: [decisionWith({ contract: 'another' })],
    });
    const shown = await ladder();
    expect(shown).toMatchObject({
      code: 0,
      err: expect.stringContaining('contains moves for a different contract (another') as string,
    });
    expect(shown.err).toContain('Levels: mode strict');
    const lifted = await ladder('--lift', 'listIdeas');
    expect(lifted).toMatchObject({ code: 1, err: expect.stringContaining('UPSTREAM_URL') as string });
    expect(readLevelsFile(levelsFile)?.entries).toHaveLength(1);
  });

  it('records that it has undone a promotion', async () => {
    const contract = await serveOnce(0);
    const promoted = decisionWith({ operation: 'listQuestions', move: 'promoted', contract });
    await writeLevelsFile(levelsFile, { contracts: [{ contract, since: promoted.since }], entries: [promoted] });
    expect((await ladder('--lift', 'listQuestions')).code).toBe(0);
    expect(readLevelsFile(levelsFile)?.entries).toMatchObject([{ operation: 'listQuestions', move: 'lifted' }]);
  });

  it('counts from the full hour, like the ledger, and shows that hour', async () => {
    const { out } = await ladder('--since', '90m', '--format', 'json');
    expect((JSON.parse(out) as { since: string }).since).toMatch(/T\d\d:00:00\.000Z$/);
  });

  it('states that nothing has been checked if there is no ledger yet', async () => {
    const { code, out, err } = await ladder();
    expect(code).toBe(0);
    expect(err).toContain('no requests have been checked');
    expect(out).toContain('not yet: 0 of 3 checked in 7 d');
  });

  it.each([
    [['--since', 'yesterday'], '--since yesterday'],
    [['--format', 'xml'], '--format xml'],
    [['--operation', 'listIdea'], 'did you mean listIdeas?'],
    [['--lift', 'listIdea'], 'did you mean listIdeas?'],
    [['--lift', 'listIdeas:nothing'], 'the checks are'],
    [['--lift', 'listIdeas:responses:now'], 'the checks are'],
    [['--lift', 'listIdeas', '--since', '7d'], '--lift cannot be combined'],
  ])('rejects %j as a usage error', async (flags, words) => {
    const { code, err, out } = await ladder(...flags);
    expect({ code, out }).toEqual({ code: 2, out: '' });
    expect(err).toContain(words);
  });

  it('reports an invalid levels file by name', async () => {
    levelsFile = join(root, `${number}-broken.json`);
    writeFileSync(levelsFile, '{"version": 1}');
    const { code, err } = await ladder();
    expect(code).toBe(1);
    expect(err).toContain(levelsFile);
    expect(err).toContain('contracts must be a list');
  });
});

needsProgram('redis', 'portico ladder for gateways that share Redis', (path) => {
  const moved = async () => {
    const { code, out, err } = await ladder('--format', 'json');
    return { code, err, row: rowsOf(out).find((row) => row.operation === 'listIdeas') };
  };

  it('shows their demotion and undoes it at all of them, without any of their files', async () => {
    const server = await startRedisServer(path);
    const upstream = await startFakeUpstream(() => ({ json: { list: [], listCount: 'none' } }));
    const gateways = await startFleet(2, server, upstream, {
      config: {
        operations: { listIdeas: { checks: { responses: 'enforce' } } },
        cache: { enabled: false },
        levels: { demote: { share: 0.5, minAnswers: 4 } },
      },
    });
    const [first] = gateways as [TestGateway];
    const isDemoted = ({ gateway }: TestGateway) => levelsIn(gateway).store.decisions().length === 1;
    for (let index = 0; index < 4; index += 1) await first.call('/services/v2/idea.json');
    await until(() => gateways.every(isDemoted));
    await levelsIn(first.gateway).documents.sync();

    more = { redis: { url: server.url, ...PATIENT } };
    expect(await moved()).toMatchObject({
      code: 0,
      err: expect.stringContaining('Moves: Redis (prefix portico)') as string,
      row: { effective: 'report', moved: { move: 'demoted' } },
    });
    const lifted = await ladder('--lift', 'listIdeas:responses');
    expect(lifted).toMatchObject({
      code: 0,
      out: expect.stringContaining('listIdeas responses: demotion lifted') as string,
      err: expect.stringContaining('All gateways') as string,
    });
    await until(() => !gateways.some(isDemoted));
    expect((await first.call('/services/v2/idea.json')).status).toBe(502);
    expect(await moved()).toMatchObject({ row: { effective: 'enforce', moved: null } });
    expect(await ladder('--lift', 'listIdeas')).toMatchObject({
      code: 1,
      err: 'The ladder has not moved listIdeas.\n',
    });
    expect(existsSync(levelsFile)).toBe(false);
  });

  it('uses the file, and says so, while Redis cannot be reached or contains no ladder', async () => {
    const contract = await serveOnce(5, true);
    const { url } = await startRedisServer(path);
    more = {
      redis: { url: 'redis://127.0.0.1:1', connectTimeoutMs: 200 },
      ledger: { store: 'file', file: ledgerFile },
    };
    expect(await moved()).toMatchObject({
      err: expect.stringContaining(`warning: Redis cannot be reached. The moves come from ${levelsFile}.`) as string,
      row: { moved: { move: 'demoted' } },
    });
    expect(readLevelsFile(levelsFile)?.entries).toHaveLength(1);
    expect(await ladder('--lift', 'listIdeas')).toMatchObject({
      code: 0,
      err: expect.stringContaining('and the other gateways when Redis is available again') as string,
    });
    expect(readLevelsFile(levelsFile)?.entries).toEqual([]);
    const refused = await ladder('--lift', 'listIdeas');
    expect(refused).toMatchObject({ code: 1, err: expect.stringContaining('and Redis cannot be reached') as string });
    more = { redis: { url, ...PATIENT } };
    const unknown = await ladder('--lift', 'listIdeas');
    expect(unknown).toMatchObject({
      code: 1,
      err: expect.stringContaining(`Redis contains no ladder for this contract (${contract})`) as string,
    });
  });
});

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { COMMANDS } from '../../../src/cli/commands.ts';
import { runProgram } from '../../../src/cli/run-program.ts';
import { readLadderFile, writeLadderFile } from '../../../src/ladder/ladder-file.ts';
import { exampleAnswer } from '../../builders/example-answer.ts';
import { startFakeUpstream } from '../../builders/fake-upstream.ts';
import { startTestGateway } from '../../builders/test-gateway.ts';
import { stepWith } from '../../ladder/levels.ts';
import { processIoOf } from '../process-io-of.ts';

const root = mkdtempSync(join(tmpdir(), 'portico-ladder-command-'));
afterAll(() => rmSync(root, { recursive: true }));

let number = 0;
let folder: string;
let ladderFile: string;
let ledgerFile: string;
beforeEach(() => {
  number += 1;
  folder = join(root, String(number));
  ladderFile = join(folder, 'ladder.json');
  ledgerFile = join(folder, 'ledger.db');
});

/**
 * Sends requests through a gateway and closes it, so that its files exist for the command. Returns the contract's id.
 */
async function serveOnce(count: number, drift = false): Promise<string> {
  const upstream = await startFakeUpstream((request) =>
    drift ? { json: { list: [], listCount: 'none' } } : exampleAnswer(request),
  );
  const gateway = await startTestGateway({
    upstream,
    config: {
      operations: { listIdeas: { checks: { responses: 'enforce' } } },
      cache: { enabled: false },
      ledger: { file: ledgerFile },
      ladder: { file: ladderFile, demote: { share: 0.5, minAnswers: 4 } },
    },
  });
  for (let index = 0; index < count; index += 1) {
    await gateway.call('/services/v2/idea.json');
    await gateway.call('/services/v2/question.json');
  }
  const { contract } = gateway.gateway.services.ladder.state();
  await gateway.close();
  return contract;
}

async function ladder(...flags: string[]) {
  const config = join(root, `${number}.yaml`);
  const settings = {
    roles: { file: fileURLToPath(new URL('../../../config/roles.yaml', import.meta.url)) },
    operations: { listIdeas: { checks: { responses: 'enforce' } } },
    ledger: { file: ledgerFile },
    ladder: { file: ladderFile, promote: { minAnswers: 3 } },
  };
  writeFileSync(config, JSON.stringify(settings));
  const io = processIoOf(root);
  const code = await runProgram(COMMANDS, ['ladder', '--config', config, ...flags], io.io);
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
    expect(readLadderFile(ladderFile)?.steps).toEqual([]);
    expect((await ladder('--lift', 'listIdeas')).code).toBe(1);
  });

  it('warns if the ladder file belongs to a different contract than the one in the shell', async () => {
    await writeLadderFile(ladderFile, { contract: 'another', since: 0, steps: [stepWith()] });
    const shown = await ladder();
    expect(shown).toMatchObject({
      code: 0,
      err: expect.stringContaining('contains moves for a different contract (another') as string,
    });
    expect(shown.err).toContain('Levels: mode strict');
    const lifted = await ladder('--lift', 'listIdeas');
    expect(lifted).toMatchObject({ code: 1, err: expect.stringContaining('UPSTREAM_URL') as string });
    expect(readLadderFile(ladderFile)?.steps).toHaveLength(1);
  });

  it('records that it has undone a promotion', async () => {
    const contract = await serveOnce(0);
    const promoted = stepWith({ operation: 'listQuestions', move: 'promoted' });
    await writeLadderFile(ladderFile, { contract, since: promoted.at, steps: [promoted] });
    expect((await ladder('--lift', 'listQuestions')).code).toBe(0);
    expect(readLadderFile(ladderFile)?.steps).toMatchObject([{ operation: 'listQuestions', move: 'lifted' }]);
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

  it('reports an invalid ladder file by name', async () => {
    ladderFile = join(root, `${number}-broken.json`);
    writeFileSync(ladderFile, '{"version": 1}');
    const { code, err } = await ladder();
    expect(code).toBe(1);
    expect(err).toContain(ladderFile);
    expect(err).toContain('contract must be text');
  });
});

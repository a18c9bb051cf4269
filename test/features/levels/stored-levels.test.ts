import { cpSync, mkdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { optionsOf } from '../../../src/engine/config/configurable.ts';
import { levels } from '../../../src/features/levels/levels.ts';
import { writeLevelsFile } from '../../../src/features/levels/levels-file.ts';
import type { LevelsOptions } from '../../../src/features/levels/options.ts';
import { readStoredLevels } from '../../../src/features/levels/stored-levels.ts';
import { exampleResponse } from '../../builders/example-response.ts';
import { startFakeUpstream } from '../../builders/fake-upstream.ts';
import { levelsIn } from '../../builders/levels-in.ts';
import { tempFolder } from '../../builders/temp-folder.ts';
import { createTestClock } from '../../builders/test-clock.ts';
import { startTestGateway } from '../../builders/test-gateway.ts';
import { load } from '../../engine/config/load-in-folder.ts';
import { overrideWith } from './entries.ts';

const FORMER = join(import.meta.dirname, 'former');
const IDS = ['listQuestions responses', 'listArticles responses', 'listIdeas responses'];
const OVERRIDES = ['listIdeas requests', 'listQuestions force-stale', 'listActions disable'];

/** Returns what a gateway in `cwd` with this configuration finds. */
function found(cwd: string, config: object) {
  const settings = load('', { cwd, given: { upstream: { url: 'https://legacy.example.org' }, ...config } });
  const options = optionsOf(settings, levels) as LevelsOptions;
  const stored = readStoredLevels({ options, settings });
  const names = stored.state.entries.map((entry) =>
    [entry.operation, entry.kind === 'level' ? entry.check : entry.kind].join(' '),
  );
  return { file: options.file, stored, names };
}

/** Copies the files that an earlier version wrote into a folder. */
function copyFormer(folder: string, ladder = 'ladder.json', overrides = 'overrides.json'): void {
  mkdirSync(folder, { recursive: true });
  cpSync(join(FORMER, 'ladder.json'), join(folder, ladder));
  cpSync(join(FORMER, 'overrides.json'), join(folder, overrides));
}

describe('the stored levels', () => {
  it('are those of the files that an earlier version wrote at the default places', () => {
    const cwd = tempFolder();
    copyFormer(join(cwd, '.portico'));
    const { file, stored, names } = found(cwd, {});
    expect(file).toBe(join(cwd, '.portico', 'levels.json'));
    expect(names).toEqual([...IDS, ...OVERRIDES]);
    expect(stored.former).toEqual(['ladder.json', 'overrides.json'].map((name) => join(cwd, '.portico', name)));
    expect(stored.isInFile).toBe(false);
  });

  it.each([
    ['both', { ladder: { file: 'a/my-ladder.json' }, overrides: { file: 'a/mine.json' } }, 'a/levels.json', 6],
    ['the ladder', { ladder: { file: 'a/my-ladder.json' } }, 'a/levels.json', 6],
    ['the overrides', { overrides: { file: 'a/mine.json' } }, 'a/levels.json', 6],
    ['the ladder in memory', { ladder: { file: ':memory:' } }, '.portico/levels.json', 3],
    ['only the new one', { levels: { file: 'a/levels.json' } }, 'a/levels.json', 0],
  ])('are found if earlier keys name the files of %s', (_what, config, file, count) => {
    const cwd = tempFolder();
    copyFormer(join(cwd, 'a'), 'my-ladder.json', 'mine.json');
    copyFormer(join(cwd, '.portico'));
    const result = found(cwd, config);
    expect(result.file).toBe(join(cwd, file));
    expect(result.names).toHaveLength(count);
  });

  it('are in memory if both earlier keys say so', () => {
    const cwd = tempFolder();
    copyFormer(join(cwd, '.portico'));
    const { file, names } = found(cwd, { ladder: { file: ':memory:' }, overrides: { file: ':memory:' } });
    expect([file, names]).toEqual([':memory:', []]);
  });

  it('are those of the new file if there is one, which says so if the others were changed later', async () => {
    const cwd = tempFolder();
    const folder = join(cwd, '.portico');
    copyFormer(folder);
    await writeLevelsFile(join(folder, 'levels.json'), { contracts: [], entries: [overrideWith()] });
    utimesSync(join(folder, 'ladder.json'), 1, 1);
    utimesSync(join(folder, 'overrides.json'), 1, 1);
    expect(found(cwd, {})).toMatchObject({ names: ['listIdeas disable'], stored: { isInFile: true, ignored: [] } });
    const later = Date.now() / 1000 + 60;
    utimesSync(join(folder, 'overrides.json'), later, later);
    expect(found(cwd, {}).stored.ignored).toEqual([join(folder, 'overrides.json')]);
  });

  it.each([
    ['ladder', 'ladder.json', /\/ladder\/file: .*ladder\.json is not a valid ladder file: it is not JSON/],
    [
      'overrides',
      'overrides.json',
      /\/overrides\/file: .*overrides\.json is not a valid overrides file: it is not JSON/,
    ],
  ])('are a configuration error at the earlier key if the file of the %s is damaged', (key, name, message) => {
    const cwd = tempFolder();
    copyFormer(join(cwd, 'a'));
    writeFileSync(join(cwd, 'a', name), '{');
    expect(() => found(cwd, { [key]: { file: `a/${name}` } })).toThrow(message);
  });
});

describe('a gateway with the configuration and the files of an earlier version', () => {
  it('starts with all of its levels, stores them in the new file, and leaves the others as they are', async () => {
    const folder = tempFolder();
    copyFormer(folder);
    const upstream = await startFakeUpstream(exampleResponse);
    const clock = createTestClock(Date.parse('2026-05-04T12:00:00Z'));
    const config = {
      operations: { listIdeas: { checks: { responses: 'enforce' } } },
      ladder: { file: join(folder, 'ladder.json'), demote: { minAnswers: 4 } },
      overrides: { file: join(folder, 'overrides.json'), maxHours: 200 / 3 },
    };
    const probe = await startTestGateway({ upstream, config: {} });
    const { contract } = levelsIn(probe.gateway).store.contract();
    await probe.close();
    const text = readFileSync(join(folder, 'ladder.json'), 'utf8').replace('6da2a601cd8f', contract);
    writeFileSync(join(folder, 'ladder.json'), text);
    const before = readFileSync(join(folder, 'overrides.json'), 'utf8');
    const gateway = await startTestGateway({ upstream, clock, config });
    const { plans } = gateway.gateway.gateway;
    expect(plans.get('listIdeas')?.checks).toMatchObject({ responses: 'report', requests: 'report' });
    expect(plans.get('listQuestions')?.checks.responses).toBe('enforce');
    expect(plans.get('listQuestions')?.forceStale).toMatchObject({ maxStaleSeconds: 600 });
    expect(plans.get('listArticles')?.checks.responses).toBe('report');
    expect((await gateway.call('/services/v2/action.json')).status).toBe(503);
    const log = gateway.log.join('');
    expect(log).toContain('the levels were read from the files of an earlier version');
    for (const [from, to] of [
      ['/ladder/file', 'levels.file'],
      ['/ladder/demote', 'levels.demote'],
      ['/overrides/file', 'auditTrail.file and levels.file'],
      ['/overrides/maxHours', 'levels.overrides.maxHours'],
    ])
      expect(log).toContain(`"pointer":"${from}","msg":"is the key of an earlier version: use ${to} instead"`);
    await gateway.close();
    expect(readFileSync(join(folder, 'ladder.json'), 'utf8')).toBe(text);
    expect(readFileSync(join(folder, 'overrides.json'), 'utf8')).toBe(before);

    // The new file counts from now on, whether or not the keys are replaced.
    const again = await startTestGateway({
      upstream,
      clock,
      config: { levels: { file: join(folder, 'levels.json') } },
    });
    expect(levelsIn(again.gateway).store.state().entries).toHaveLength(6);
    expect((await again.admin('/overrides/end', { method: 'POST', body: { operation: 'listActions' } })).status).toBe(
      200,
    );
    await again.close();
    const third = await startTestGateway({ upstream, clock, config });
    expect(
      levelsIn(third.gateway)
        .overrides.active()
        .map(({ operation }) => operation),
    ).toEqual(['listIdeas', 'listQuestions']);
  });
});

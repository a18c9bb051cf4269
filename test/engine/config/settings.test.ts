import { levels } from '../../../src/features/levels/levels.ts';
import type { LevelsOptions } from '../../../src/features/levels/options.ts';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type Settings, withDemoState } from '../../../src/engine/config/settings.ts';
import { learning } from '../../../src/features/learning/learning.ts';
import type { LearnOptions } from '../../../src/features/learning/options.ts';
import { readSettings } from '../../../src/portico-settings.ts';
import { optionsOf } from '../../../src/engine/config/configurable.ts';
import type { LedgerOptions } from '../../../src/features/ledger/options.ts';
import { ledger } from '../../../src/features/ledger/ledger.ts';
import { tempFolder } from '../../builders/temp-folder.ts';

const cwd = tempFolder();

function settingsWith(env: Readonly<Record<string, string>> = {}): Settings {
  return readSettings({ env, cwd }).settings;
}

const ledgerOf = (settings: Settings) => (optionsOf(settings, ledger) as LedgerOptions).file;
const filesOf = (settings: Settings) => {
  const learn = optionsOf(settings, learning) as LearnOptions;
  const changed = optionsOf(settings, levels) as LevelsOptions;
  return [ledgerOf(settings), ...[changed, learn].map(({ file }) => file)];
};

describe('the state of the demo', () => {
  it('is in a folder of its own, apart from the state of a real server', () => {
    const real = settingsWith({ UPSTREAM_URL: 'http://127.0.0.1:9' });
    expect(filesOf(withDemoState(settingsWith()))).toEqual(
      ['ledger.db', 'levels.json', 'observations.json'].map((name) => join(cwd, '.portico', 'demo', name)),
    );
    expect(withDemoState(real)).toBe(real);
  });

  it('stays in the places that are configured', () => {
    const settings = settingsWith({ PORTICO_LEDGER: 'own.db' });
    expect(ledgerOf(withDemoState(settings))).toBe(join(cwd, 'own.db'));
    expect(ledgerOf(withDemoState(settingsWith({ PORTICO_LEDGER: ':memory:' })))).toBe(':memory:');
  });
});

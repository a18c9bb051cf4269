import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type Settings, withDemoState } from '../../../src/engine/config/settings.ts';
import { readSettings } from '../../../src/portico-settings.ts';
import { tempFolder } from '../../builders/temp-folder.ts';

const cwd = tempFolder();

function settingsWith(env: Readonly<Record<string, string>> = {}): Settings {
  return readSettings({ env, cwd }).settings;
}

const filesOf = ({ ledger, ladder, overrides, learn }: Settings) =>
  [ledger, ladder, overrides, learn].map(({ file }) => file);

describe('the state of the demo', () => {
  it('is in a folder of its own, apart from the state of a real server', () => {
    const real = settingsWith({ UPSTREAM_URL: 'http://127.0.0.1:9' });
    expect(filesOf(withDemoState(settingsWith()))).toEqual(
      ['ledger.db', 'ladder.json', 'overrides.json', 'observations.json'].map((name) =>
        join(cwd, '.portico', 'demo', name),
      ),
    );
    expect(withDemoState(real)).toBe(real);
  });

  it('stays in the places that are configured', () => {
    const settings = settingsWith({ PORTICO_LEDGER: 'own.db' });
    expect(withDemoState(settings).ledger.file).toBe(join(cwd, 'own.db'));
    expect(withDemoState(settingsWith({ PORTICO_LEDGER: ':memory:' })).ledger.file).toBe(':memory:');
  });
});

import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { FEATURES } from '../../../src/features.ts';
import { RESTART_KEYS, restartFaults } from '../../../src/engine/assembly/reload.ts';
import { settingsOf } from './settings.ts';

const REAL = { upstream: { url: 'http://127.0.0.1:9' }, roles: { file: '/etc/portico/roles.yaml' } };

describe('the keys that need a restart', () => {
  it('are exactly those that the documentation lists', () => {
    const text = readFileSync(new URL('../../../docs/operations.md', import.meta.url), 'utf8');
    const [, list = ''] = text.split('<!-- restart keys -->');
    const documented = [...(list.split('\n\n')[1] ?? '').matchAll(/^- `([\w.]+)`$/gm)].map(([, key]) => key);
    const ofFeatures = FEATURES.flatMap(({ name, needsRestart }) => (needsRestart === true ? [name] : []));
    expect(new Set(documented)).toEqual(new Set([...RESTART_KEYS, ...ofFeatures]));
  });

  it('are each a fault of their own, at the place where the key was set', () => {
    const faults = restartFaults(settingsOf(REAL), settingsOf({ ...REAL, listen: { port: 1, maxBodyBytes: 5000 } }));
    expect(faults).toMatchObject([{ pointer: '/listen/port', message: /listen\.port/, suggestion: /restart/ }]);
  });

  it('include a switch between a real upstream and the reference server', () => {
    const faults = restartFaults(settingsOf(REAL), settingsOf({}));
    expect(faults.map(({ message }) => message)).toContainEqual(
      expect.stringContaining('a real upstream and the reference server'),
    );
  });
});

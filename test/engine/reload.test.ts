import { describe, expect, it } from 'vitest';
import { restartFaults } from '../../src/engine/reload.ts';
import { settingsOf } from '../builders/settings-of.ts';

const REAL = { upstream: { url: 'http://127.0.0.1:9' }, roles: { file: '/etc/portico/roles.yaml' } };

describe('the keys that need a restart', () => {
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

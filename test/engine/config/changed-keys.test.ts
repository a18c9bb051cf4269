import { describe, expect, it } from 'vitest';
import { changedKeys, settingsDigest } from '../../../src/engine/config/changed-keys.ts';
import { settingsOf } from '../../builders/settings-of.ts';

const REAL = { upstream: { url: 'http://127.0.0.1:9' }, roles: { file: '/etc/portico/roles.yaml' } };

describe('the changed keys', () => {
  it('are the keys whose effective values differ, without the defaults that follow another key', () => {
    const before = settingsOf({ ...REAL, mode: 'strict', cache: { freshSeconds: 5 } });
    const after = settingsOf({ ...REAL, mode: 'staging', operations: { listIdeas: { cache: { enabled: false } } } });
    expect(changedKeys(before, after)).toEqual(['cache.freshSeconds', 'mode', 'operations.listIdeas.cache.enabled']);
  });

  it('are none for the same configuration', () => {
    const settings = settingsOf({ mode: 'strict' });
    expect(changedKeys(settings, settings)).toEqual([]);
  });
});

describe('the digest of the settings', () => {
  it('differs if a key or a file differs, but does not depend on secrets', () => {
    const settings = settingsOf({ ...REAL, adminToken: 'one-admin-token' });
    const other = { ...settings, adminToken: 'another-admin-token' };
    expect(settingsDigest(other, [])).toBe(settingsDigest(settings, []));
    expect(settingsDigest(settings, ['file'])).not.toBe(settingsDigest(settings, []));
    expect(settingsDigest({ ...settings, rewriteUrls: true }, [])).not.toBe(settingsDigest(settings, []));
  });

  // If these settings counted, two gateways on one machine would always be reported as different, even though they
  // behave the same way.
  it('does not depend on the name, the addresses and the files of a gateway', () => {
    const gateway = (name: string, port: number) =>
      settingsOf({
        ...REAL,
        instance: name,
        listen: { port, adminPort: port + 1, host: '127.0.0.1', adminHost: '127.0.0.1' },
        ledger: { file: `${name}.db` },
        levels: { file: `${name}.json` },
        reference: { db: `${name}-reference.db` },
        roles: { file: `${name}.yaml` },
      });
    expect(settingsDigest(gateway('one', 1000), [])).toBe(settingsDigest(gateway('two', 2000), []));
  });
});

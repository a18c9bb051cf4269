import { describe, expect, it } from 'vitest';
import { settingsDigest } from '../../src/config/changed-keys.ts';
import { loadSettings } from '../../src/config/load-settings.ts';
import { withUpstreamUrl } from '../../src/config/settings.ts';
import { configurationRows } from '../../src/console/configuration-rows.ts';
import { configSchema } from '../../src/config/config-schema.ts';

const env = {
  UPSTREAM_URL: 'http://robot:planted@legacy.example/qa',
  PORTICO_ADMIN_TOKEN: 'planted-token',
  PORTICO_CONFIG: new URL('../../config/portico.yaml', import.meta.url).pathname,
};
const flags = [{ source: '--port', kind: 'flag' as const, pointer: '/listen/port', value: 9999 }];
const base = loadSettings({ env: { PORTICO_CONFIG: env.PORTICO_CONFIG }, cwd: '/' });

describe('the rows of the configuration', () => {
  it('show each value with its origin', () => {
    const settings = loadSettings({ env: { ...env, UPSTREAM_URL: undefined }, cwd: '/', flags });
    const rows = new Map(configurationRows(settings).map((row) => [row.key, row]));
    expect(rows.get('listen.port')).toEqual({
      key: 'listen.port',
      value: '9999',
      origin: 'flag',
      source: '--port',
      secret: false,
    });
    expect(rows.get('cache.enabled')).toMatchObject({ value: 'true', origin: 'default' });
    expect(rows.get('mode')).toMatchObject({ value: '"strict"', origin: 'default', source: undefined });
    expect(rows.get('adminToken')).toMatchObject({
      origin: 'environment',
      source: 'PORTICO_ADMIN_TOKEN',
      secret: true,
    });
  });

  it('mask secrets, and addresses’ names and passwords', () => {
    const settings = {
      ...withUpstreamUrl(base, env.UPSTREAM_URL),
      adminToken: env.PORTICO_ADMIN_TOKEN,
      upstream: {
        ...base.upstream,
        url: env.UPSTREAM_URL,
        legacyOrigins: ['https://user:planted@old.example'],
        credentials: { kind: 'service' as const, username: 'robot', password: 'planted' },
      },
    };
    const rows = configurationRows(settings);
    expect(JSON.stringify(rows)).not.toContain('planted');
    const url = rows.find(({ key }) => key === 'upstream.url');
    expect(url?.value).toMatch(/^"http:\/\/•+@legacy\.example\/qa"$/);
  });

  it('mask the address of Redis, and it does not affect the digest', () => {
    const withUrl = (url: string) => ({ ...base, redis: { ...base.redis, url, password: 'planted' } });
    const settings = withUrl('redis://:planted@redis.example');
    expect(JSON.stringify(configurationRows(settings))).not.toContain('planted');
    expect(settingsDigest(settings, [])).toBe(settingsDigest(withUrl('redis://:other@redis.example'), []));
  });

  it('show the location of a secret, which is not secret itself', () => {
    const place = { kind: 'service' as const, username: 'robot', passwordFile: '/run/secrets/upstream' };
    const settings = { ...base, upstream: { ...base.upstream, credentials: place } };
    const row = configurationRows(settings).find(({ key }) => key === 'upstream.credentials.passwordFile');
    expect(row).toMatchObject({ value: '"/run/secrets/upstream"', secret: false });
  });

  it('include every configuration key', () => {
    const { properties } = configSchema() as { properties: object };
    const shown = new Set(configurationRows(base).map(({ key }) => key.split('.')[0]));
    expect(Object.keys(properties).filter((key) => !shown.has(key))).toEqual([]);
  });
});

import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import {
  audienceFault,
  cacheOptionsSchema,
  DEFAULT_CACHE_OPTIONS,
  knownDefaultPageSize,
  operationCacheSchema,
  toCacheOptions,
  toOperationCacheOptions,
} from '../../../src/engine/cache/cache-options.ts';

describe('cache options', () => {
  const valid = new Ajv2020({ strict: true }).compile(cacheOptionsSchema);

  it('default to 30 s of freshness, 30 s of revalidation, 300 s on errors, and 64 MiB', () => {
    expect(DEFAULT_CACHE_OPTIONS).toMatchObject({
      freshSeconds: 30,
      staleWhileRevalidateSeconds: 30,
      staleIfErrorSeconds: 300,
      maxBytes: 67_108_864,
      store: 'accepted',
      respectUpstream: false,
    });
  });

  it('combine configured values with the defaults', () => {
    expect(toCacheOptions({ freshSeconds: 5 })).toMatchObject({ freshSeconds: 5, staleIfErrorSeconds: 300 });
  });

  it('have a schema that accepts every key and rejects unknown ones', () => {
    const { enabled: _, defaultPageSize: __, ...defaults } = DEFAULT_CACHE_OPTIONS;
    expect(valid({ ...defaults, enabled: true, defaultPageSize: { listIdeas: 15 } })).toBe(true);
    expect(Object.keys(cacheOptionsSchema.properties).sort()).toEqual(Object.keys(DEFAULT_CACHE_OPTIONS).sort());
    expect(valid({ freshSecond: 5 })).toBe(false);
    expect(valid({ freshSeconds: -1 })).toBe(false);
    expect(valid({ store: 'any' })).toBe(false);
  });

  it('specify the default page size for all operations or for individual ones', () => {
    expect(knownDefaultPageSize(toCacheOptions({ defaultPageSize: 20 }), 'listIdeas')).toBe(20);
    const named = toCacheOptions({ defaultPageSize: { listIdeas: 15 } });
    expect(knownDefaultPageSize(named, 'listIdeas')).toBe(15);
    expect(knownDefaultPageSize(named, 'toString')).toBeUndefined();
    expect(knownDefaultPageSize(DEFAULT_CACHE_OPTIONS, 'listIdeas')).toBeUndefined();
  });
});

describe('operation cache settings', () => {
  const options = toCacheOptions();
  const list = { byDefault: true, on: true };

  describe("an operation's cache options", () => {
    it('cache operations that the contract caches by default, and others only if enabled', () => {
      const other = { byDefault: false, on: true };
      expect(toOperationCacheOptions(options, list).enabled).toBe(true);
      expect(toOperationCacheOptions(options, other).enabled).toBe(false);
      expect(toOperationCacheOptions(options, other, { enabled: true }).enabled).toBe(true);
    });

    it('disable caching if the mode or the configuration does', () => {
      const off = { byDefault: true, on: false };
      expect(toOperationCacheOptions(options, off, { enabled: true }).enabled).toBe(false);
      expect(toOperationCacheOptions(toCacheOptions({ enabled: false }), list).enabled).toBe(false);
      expect(toOperationCacheOptions(toCacheOptions({ enabled: true }), off).enabled).toBe(true);
    });

    it('have the audience caller by default', () => {
      expect(toOperationCacheOptions(options, list)).toMatchObject({ audience: 'caller', assumeImpersonal: false });
    });

    it('override the global durations individually', () => {
      const own = toOperationCacheOptions(options, list, { freshSeconds: 0 });
      expect(own).toMatchObject({ freshSeconds: 0, staleIfErrorSeconds: 300 });
    });

    it('have a schema that accepts every key and rejects unknown ones', () => {
      const valid = new Ajv2020({ strict: true }).compile(operationCacheSchema);
      expect(valid({ enabled: true, audience: 'public', assumeImpersonal: true, freshSeconds: 1 })).toBe(true);
      expect(valid({ audience: 'everybody' })).toBe(false);
      expect(valid({ maxBytes: 1 })).toBe(false);
    });
  });

  describe('a shared audience', () => {
    const where = { source: 'portico.yaml', pointer: '/operations/listIdeas/cache', usesServiceCredential: false };
    const shared = toOperationCacheOptions(options, list, { audience: 'public' });

    it("causes a configuration error if pages are fetched with callers' own credentials", () => {
      expect(audienceFault(shared, where)).toMatchObject({ source: 'portico.yaml', pointer: where.pointer });
    });

    it('needs a service credential or assumeImpersonal: true', () => {
      expect(audienceFault(shared, { ...where, usesServiceCredential: true })).toBeUndefined();
      expect(audienceFault({ ...shared, assumeImpersonal: true }, where)).toBeUndefined();
      expect(audienceFault(toOperationCacheOptions(options, list), where)).toBeUndefined();
    });
  });
});

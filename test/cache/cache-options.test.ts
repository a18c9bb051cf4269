import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import {
  cacheOptionsSchema,
  DEFAULT_CACHE_OPTIONS,
  knownDefaultPageSize,
  toCacheOptions,
} from '../../src/cache/cache-options.ts';

const valid = new Ajv2020({ strict: true }).compile(cacheOptionsSchema);

describe('cache options', () => {
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

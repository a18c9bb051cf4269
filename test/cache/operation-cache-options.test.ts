import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import { toCacheOptions } from '../../src/cache/cache-options.ts';
import {
  audienceFault,
  operationCacheSchema,
  toOperationCacheOptions,
} from '../../src/cache/operation-cache-options.ts';

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

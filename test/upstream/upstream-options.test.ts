import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import { UPSTREAM_DEFAULTS, upstreamOptionsSchema } from '../../src/upstream/upstream-options.ts';

const ajv = new Ajv2020({ strict: true, strictRequired: false, allErrors: true, formats: { regex: true } });
const isValid = ajv.compile(upstreamOptionsSchema);

describe('the schema of `upstream:`', () => {
  it('accepts the defaults and knows every key of them', () => {
    expect(isValid(UPSTREAM_DEFAULTS)).toBe(true);
    expect(Object.keys(upstreamOptionsSchema.properties).toSorted()).toEqual(
      ['url', ...Object.keys(UPSTREAM_DEFAULTS)].toSorted(),
    );
  });

  it.each([
    { credentials: { kind: 'service', username: 'u', password: 'p' } },
    { credentials: { kind: 'service', username: 'u', passwordEnv: 'P' } },
    { credentials: { kind: 'service', username: 'u', passwordFile: '/run/p' } },
    { legacyOrigins: ['http://old.example:8080'] },
    { circuit: { failures: 1 } },
  ])('accepts %j', (options) => {
    expect(isValid(options)).toBe(true);
  });

  it.each([
    { unknown: 1 },
    { credentials: {} },
    { credentials: { kind: 'forward', username: 'u' } },
    { credentials: { kind: 'service', username: 'u' } },
    { credentials: { kind: 'service', username: 'u', password: 'p', passwordEnv: 'P' } },
    { credentials: { kind: 'service', username: 'a:b', password: 'p' } },
    { connectTimeoutMs: 0 },
    { totalTimeoutMs: '20s' },
    { concurrency: 0 },
    { circuit: { failures: 0 } },
    { legacyOrigins: ['http://old.example/path'] },
    { legacyOrigins: ['old.example'] },
  ])('refuses %j', (options) => {
    expect(isValid(options)).toBe(false);
  });
});

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it, afterAll } from 'vitest';
import {
  UPSTREAM_DEFAULTS,
  upstreamOptionsSchema,
  serviceAuthorization,
} from '../../../src/engine/upstream/upstream-options.ts';

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

const folder = mkdtempSync(join(tmpdir(), 'portico-'));
afterAll(() => rmSync(folder, { recursive: true }));

const service = { kind: 'service', username: 'svc' } as const;
const basic = (text: string) => ({ authorization: `Basic ${Buffer.from(text).toString('base64')}` });

describe('the credential of a service account', () => {
  it('is absent if credentials are forwarded', () => {
    expect(serviceAuthorization({ kind: 'forward' }, {})).toEqual({ authorization: undefined });
  });

  it('comes from the configuration, a variable or the first line of a file', () => {
    const passwordFile = join(folder, 'password');
    writeFileSync(passwordFile, 'fi:lé\r\nmore\n');
    expect(serviceAuthorization({ ...service, password: 'p' }, {})).toEqual(basic('svc:p'));
    expect(serviceAuthorization({ ...service, passwordEnv: 'P' }, { P: 'env' })).toEqual(basic('svc:env'));
    expect(serviceAuthorization({ ...service, passwordFile }, {})).toEqual(basic('svc:fi:lé'));
  });

  it('is a configuration error if it is missing', () => {
    const empty = join(folder, 'empty');
    writeFileSync(empty, '\n');
    expect(serviceAuthorization({ ...service, passwordEnv: 'P' }, {})).toEqual({ fault: 'the variable P is not set' });
    expect(serviceAuthorization({ ...service, passwordFile: empty }, {})).toEqual({
      fault: `the first line of the file ${empty} is empty`,
    });
    const missing = join(folder, 'missing');
    expect(serviceAuthorization({ ...service, passwordFile: missing }, {})).toEqual({
      fault: `the file ${missing} cannot be read: there is no such file or folder (ENOENT)`,
    });
    expect(serviceAuthorization(service, {})).toHaveProperty('fault');
  });
});

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { serviceAuthorization } from '../../src/upstream/service-authorization.ts';

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
      fault: `the file ${missing} cannot be read (ENOENT)`,
    });
    expect(serviceAuthorization(service, {})).toHaveProperty('fault');
  });
});

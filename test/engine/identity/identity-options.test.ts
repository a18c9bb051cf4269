import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import { IDENTITY_DEFAULTS } from '../../../src/engine/identity/identity-options.ts';
import { identityOptionsSchema } from '../../../src/engine/identity/identity-options.ts';

const validate = new Ajv2020({ strict: true }).compile(identityOptionsSchema);

describe('the schema of `authentication:`', () => {
  it('accepts the defaults, and has no other keys', () => {
    expect(validate(IDENTITY_DEFAULTS)).toBe(true);
    expect(Object.keys(identityOptionsSchema.properties).sort()).toEqual(Object.keys(IDENTITY_DEFAULTS).sort());
  });

  it.each([
    ['an unknown key', { verifyer: 'file' }],
    ['an unknown verifier', { verifier: 'ldap' }],
    ['a realm that would break the header', { realm: 'a\r\nb' }],
    ['a realm with quotes', { realm: 'a"b' }],
    ['a probe status that means a refusal', { probe: { validStatuses: [200, 401] } }],
    ['no probe status', { probe: { validStatuses: [] } }],
    ['a probe path without a slash', { probe: { path: 'x' } }],
    ['hashing disabled', { hashing: { concurrency: 0 } }],
  ])('refuses %s', (_, options) => {
    expect(validate(options)).toBe(false);
  });
});

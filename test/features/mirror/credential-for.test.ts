import { describe, expect, it } from 'vitest';
import type { Arrival } from '../../../src/engine/model/arrival.ts';
import { ANONYMOUS, type Principal } from '../../../src/engine/model/principal.ts';
import { createCredentialFor, type CredentialParts } from '../../../src/features/mirror/credential-for.ts';

const BASIC = 'Basic YWRhOmFkYQ==';
const SERVICE = 'Basic c2VydmljZTpz';
const ada: Principal = { kind: 'verified', name: 'ada', audience: 'caller:verified:user:ada', authorization: BASIC };

/** Returns the credential for a caller: `none`, the header, or undefined if the request is not mirrored. */
function sent(
  principal: Principal,
  parts: Partial<Omit<CredentialParts, 'options'>> & Partial<CredentialParts['options']>,
  request: { readonly cookie?: string; readonly otherCredential?: string; readonly identityIndependent?: boolean } = {},
): string | undefined {
  const { credentials = 'forward', impersonal = [], ...others } = parts;
  const credentialFor = createCredentialFor({
    options: { credentials, impersonal },
    service: credentials === 'service' ? SERVICE : undefined,
    transparent: false,
    hasServiceAccount: false,
    sessionCookies: new Set(['JSESSIONID']),
    ...others,
  });
  const { cookie, otherCredential, identityIndependent = false } = request;
  const arrival = {
    authorization: principal.authorization,
    headers: { cookie },
    otherCredential,
  } as unknown as Arrival;
  const found = credentialFor({ arrival, principal, delegated: false }, { id: 'listBooks', identityIndependent });
  return found && (found.authorization ?? 'none');
}

describe('the credential for the second server', () => {
  it.each<[string, string | undefined, string | undefined]>([
    ['none', undefined, 'none'],
    ['forward', BASIC, 'none'],
    ['service', undefined, undefined],
  ])('is with credentials: %s that of the caller or none', (credentials, ofAda, ofNobody) => {
    const parts = { credentials: credentials as CredentialParts['options']['credentials'] };
    expect(sent(ada, parts)).toBe(ofAda);
    expect(sent(ANONYMOUS, parts)).toBe(ofNobody);
  });

  it('is that of the service account only where the legacy server gets one, too', () => {
    const parts = { credentials: 'service', hasServiceAccount: true } as const;
    expect(sent(ada, parts, { identityIndependent: true })).toBe(SERVICE);
    expect(sent(ada, parts)).toBeUndefined();
    expect(sent(ada, { ...parts, transparent: true }, { identityIndependent: true })).toBeUndefined();
  });

  it('is not the caller’s where the legacy server gets that of a service account', () => {
    expect(sent(ada, { hasServiceAccount: true }, { identityIndependent: true })).toBeUndefined();
  });

  it('is never a token or what stands for it', () => {
    const withToken = { ...ada, access: { id: 'token:1' } };
    expect(sent(withToken, {})).toBeUndefined();
    expect(sent({ ...withToken, authorization: undefined }, {})).toBeUndefined();
    expect(sent({ ...withToken, authorization: undefined }, { credentials: 'none' })).toBeUndefined();
  });

  it('cannot replace a session, which is not taken along', () => {
    const cookie = 'theme=dark; JSESSIONID=1';
    expect(sent(ada, { transparent: true }, { cookie })).toBeUndefined();
    expect(sent(ANONYMOUS, { transparent: true }, { cookie })).toBeUndefined();
    expect(sent(ANONYMOUS, { transparent: true }, { cookie: 'theme=dark' })).toBe('none');
    expect(sent(ANONYMOUS, { transparent: true }, { otherCredential: 'token' })).toBeUndefined();
  });

  it('is one of the second server’s own for operations that do not depend on the caller', () => {
    const impersonal = ['listBooks'];
    expect(sent(ada, { credentials: 'service', impersonal })).toBe(SERVICE);
    expect(sent(ada, { credentials: 'none', impersonal })).toBe('none');
    expect(sent(ada, { impersonal })).toBe('none');
  });
});

import { describe, expect, it } from 'vitest';
import { planOperation } from '../../../src/engine/compile-gateway.ts';
import { createPageVersions, digestOfAccepted } from '../../../src/engine/pipeline/page-version.ts';
import { operationWith } from '../../builders/exchange.ts';
import { settingsOf } from '../../builders/settings-of.ts';

const questions = operationWith({ id: 'listQuestions', identityIndependent: true });

/** Returns the page version of listQuestions. */
function versionWith(
  config: Readonly<Record<string, unknown>> = {},
  contract = 'c',
  origin = 'http://a',
  accepted = '',
) {
  const settings = settingsOf(config);
  const start = { contract: { version: contract }, address: { origin, basePath: '' } };
  return createPageVersions(settings, start, () => accepted)(planOperation(settings, questions));
}

const SERVICE = { upstream: { credentials: { kind: 'service', username: 'a', password: 'p' } } };

describe('the page version', () => {
  it.each([
    ['the contract', () => versionWith({}, 'd')],
    ['the address of the upstream', () => versionWith({}, 'c', 'http://b')],
    ['a withdrawn acceptance of a violation', () => versionWith({}, 'c', 'http://a', 'b')],
    ['the freshness of pages', () => versionWith({ cache: { freshSeconds: 7 } })],
    ['the rule for storing pages', () => versionWith({ cache: { store: 'valid' } })],
    [
      'the audience',
      () => versionWith({ operations: { listQuestions: { cache: { audience: 'public', assumeImpersonal: true } } } }),
    ],
    ['a service account', () => versionWith(SERVICE)],
    ['responses that are no longer checked', () => versionWith({ checks: { responses: 'off' } })],
    ['messages about permissions', () => versionWith({ upstream: { permissionMessages: ['nope'] } })],
  ])('changes with %s', (_what, changed) => {
    expect(changed()).not.toBe(versionWith());
  });

  it('changes with the name of the service account, but not with its password', () => {
    const named = (username: string, password: string) =>
      versionWith({ upstream: { credentials: { kind: 'service', username, password } } });
    expect(named('a', 'q')).toBe(versionWith(SERVICE));
    expect(named('b', 'p')).not.toBe(versionWith(SERVICE));
  });

  // A demoted list's pages must still be served, because the list is demoted when the upstream has problems.
  it('stays the same if the level of responses does not decide what is stored', () => {
    expect(versionWith({ checks: { responses: 'enforce' } })).toBe(versionWith({ checks: { responses: 'report' } }));
  });

  // If the version stayed the same, invalid pages that were stored earlier would still be served after a promotion to
  // `enforce`.
  it('changes with the level of responses if invalid pages may be stored', () => {
    const cache = { store: 'wellFormed' };
    const [report, enforce] = ['report', 'enforce'].map((responses) => versionWith({ cache, checks: { responses } }));
    expect(report).not.toBe(enforce);
  });

  it.each([
    ['permissions', { checks: { permissions: 'report' } }],
    ['page bounds', { pageBounds: { maxPageSize: 5 } }],
    ['timeouts', { upstream: { totalTimeoutMs: 5000 } }],
    ['rewritten addresses', { rewriteUrls: true }],
  ])('does not change with %s, which apply outside the cache', (_what, config) => {
    expect(versionWith(config)).toBe(versionWith());
  });
});

describe('the digest of accepted violations', () => {
  const baselineOf = (...accepted: { fingerprint: string; expires?: string }[]) =>
    ({ read: () => ({ accepted }) }) as never;

  // Gateways reload at different times. If a page was stored because its violations were accepted, a gateway that no
  // longer accepts them must not serve it.
  it('is the same for the same violations in any order, and differs if one is withdrawn or expires at another time', () => {
    const [a, b] = [{ fingerprint: 'a' }, { fingerprint: 'b', expires: '2027-01-01' }];
    const digest = digestOfAccepted(baselineOf(a, b));
    expect(digestOfAccepted(baselineOf(b, a))).toBe(digest);
    const others = [baselineOf(a), baselineOf(a, { ...b, expires: '2028-01-01' }), undefined];
    for (const other of others) expect(digestOfAccepted(other)).not.toBe(digest);
  });
});

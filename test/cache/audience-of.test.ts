import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { audienceOf } from '../../src/cache/audience-of.ts';
import type { Audience } from '../../src/cache/operation-cache-options.ts';
import { ANONYMOUS, type Principal } from '../../src/model/principal.ts';

const principal = (kind: Principal['kind'], audience: string): Principal => ({
  kind,
  name: audience,
  audience,
  authorization: undefined,
});
const alice = principal('verified', 'alice');
const bob = principal('verified', 'bob');
const shared: readonly Audience[] = ['permissions', 'public'];

describe('an audience', () => {
  it('is the caller alone by default', () => {
    expect(audienceOf('caller', alice, 'g', false)).not.toBe(audienceOf('caller', bob, 'g', false));
  });

  it('is shared by callers with equal permissions if configured', () => {
    expect(audienceOf('permissions', alice, 'g', false)).toBe(audienceOf('permissions', bob, 'g', false));
    expect(audienceOf('permissions', alice, 'g', false)).not.toBe(audienceOf('permissions', bob, 'h', false));
  });

  it('is all callers if configured', () => {
    expect(audienceOf('public', alice, 'g', false)).toBe(audienceOf('public', ANONYMOUS, 'h', false));
  });

  it.each(shared)('falls back from %s to the caller once the operation is demoted', (setting) => {
    expect(audienceOf(setting, alice, 'g', true)).toBe(audienceOf('caller', alice, 'g', false));
  });

  it.each(shared)('is never %s for an unverified principal', (setting) => {
    const claimed = principal('unverified', 'hash');
    expect(audienceOf(setting, claimed, 'g', false)).toBe(audienceOf('caller', claimed, 'g', false));
  });

  it('is the caller if the permissions are unknown', () => {
    expect(audienceOf('permissions', alice, undefined, false)).toBe(audienceOf('caller', alice, undefined, false));
  });

  it('never combines two callers because of their names', () => {
    const anyPrincipal = fc
      .tuple(fc.constantFrom<Principal['kind'][]>('verified', 'anonymous', 'unverified'), fc.string())
      .map(([kind, audience]) => principal(kind, audience));
    fc.assert(
      fc.property(anyPrincipal, anyPrincipal, fc.string(), (a, b, grants) => {
        const same = a.kind === b.kind && a.audience === b.audience;
        expect(audienceOf('caller', a, grants, false) === audienceOf('caller', b, grants, false)).toBe(same);
        expect(audienceOf('caller', a, grants, false)).not.toBe(audienceOf('permissions', alice, b.audience, false));
        expect(audienceOf('caller', a, grants, false)).not.toBe('public');
      }),
    );
  });
});

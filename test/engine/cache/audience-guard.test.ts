import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createAudienceGuard } from '../../../src/engine/cache/audience-guard.ts';
import { audienceOf } from '../../../src/engine/cache/stored-page.ts';
import type { Audience } from '../../../src/engine/cache/cache-options.ts';
import { ANONYMOUS, type Principal } from '../../../src/engine/model/principal.ts';

describe('an audience', () => {
  const principal = (kind: Principal['kind'], audience: string): Principal => ({
    kind,
    name: audience,
    audience,
    authorization: undefined,
  });
  const alice = principal('verified', 'alice');
  const bob = principal('verified', 'bob');
  const shared: readonly Audience[] = ['permissions', 'public'];

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
      .map(([kind, name]) => principal(kind, `caller:${kind}:${name}`));
    fc.assert(
      fc.property(anyPrincipal, anyPrincipal, fc.string(), (a, b, grants) => {
        const same = a.audience === b.audience;
        expect(audienceOf('caller', a, grants, false) === audienceOf('caller', b, grants, false)).toBe(same);
        expect(audienceOf('caller', a, grants, false)).not.toBe(audienceOf('permissions', alice, b.name, false));
        expect(audienceOf('caller', a, grants, false)).not.toBe('public');
      }),
    );
  });
});

describe('the audience guard', () => {
  const byAlice = { caller: 'alice', etag: '"1"' };
  const byBob = { caller: 'bob', etag: '"2"' };

  it('compares the configured share of hits', () => {
    let next = 0;
    const guard = createAudienceGuard({ sampleShared: 0.25, random: () => (next++ % 100) / 100 });
    const asked = Array.from({ length: 100 }, () => guard.shouldCompare('listIdeas', byAlice, 'bob'));
    expect(asked.filter(Boolean)).toHaveLength(25);
  });

  it('compares nothing at a share of 0 and everything at 1', () => {
    const never = createAudienceGuard({ sampleShared: 0, random: () => 0 });
    const always = createAudienceGuard({ sampleShared: 1, random: () => 0.999_999 });
    expect(never.shouldCompare('listIdeas', byAlice, 'bob')).toBe(false);
    expect(always.shouldCompare('listIdeas', byAlice, 'bob')).toBe(true);
  });

  it('does not compare a caller with itself, nor a page that was not fetched for a single caller', () => {
    const guard = createAudienceGuard({ sampleShared: 1, random: () => 0 });
    expect(guard.shouldCompare('listIdeas', byAlice, 'alice')).toBe(false);
    expect(guard.shouldCompare('listIdeas', undefined, 'alice')).toBe(false);
    expect(guard.compare('listIdeas', byAlice, { ...byBob, caller: 'alice' })).toBe('not comparable');
    expect(guard.isDemoted('listIdeas')).toBe(false);
  });

  it('demotes an operation once if the responses of two callers differ, and no other operation', () => {
    const heard: string[] = [];
    const onDemoted = (id: string) => heard.push(id);
    const guard = createAudienceGuard({ sampleShared: 1, random: () => 0, onDemoted });
    const next = createAudienceGuard({ sampleShared: 1, random: () => 0, onDemoted, demoted: ['listIdeas'] });
    expect([next.isDemoted('listIdeas'), next.demoted()]).toEqual([true, ['listIdeas']]);
    expect(guard.compare('listIdeas', byAlice, byBob)).toBe('differs');
    guard.compare('listIdeas', byAlice, byBob);
    expect([guard.isDemoted('listIdeas'), guard.isDemoted('listQuestions')]).toEqual([true, false]);
    expect([heard, guard.demoted()]).toEqual([['listIdeas'], ['listIdeas']]);
    expect(guard.shouldCompare('listIdeas', byAlice, 'bob')).toBe(false);
  });

  it('demotes an operation on request, once', () => {
    const heard: string[] = [];
    const guard = createAudienceGuard({ sampleShared: 0, random: () => 0, onDemoted: (id) => heard.push(id) });
    guard.demote('listIdeas');
    guard.demote('listIdeas');
    expect([heard, guard.isDemoted('listIdeas')]).toEqual([['listIdeas'], true]);
  });

  it('does not demote an operation while the responses are the same', () => {
    const guard = createAudienceGuard({ sampleShared: 1, random: () => 0 });
    expect(guard.compare('listIdeas', byAlice, { ...byAlice, caller: 'bob' })).toBe('same');
    expect(guard.isDemoted('listIdeas')).toBe(false);
    guard.demote('listIdeas');
    expect(guard.isDemoted('listIdeas')).toBe(true);
  });
});

import { describe, expect, it } from 'vitest';
import { decide } from '../../../src/engine/permissions/decide.ts';
import { compiled, principal } from './permissions-fixtures.ts';

const permissions = compiled({ further: [{ own: { all: [] } }] });
const unwikify = permissions.requirementOf('unwikify');
const grantsOf = (name: string) => permissions.grantsOf(principal('verified', name));

describe('a decision on unwikify (docs/rules.md §3)', () => {
  it('allows callers with the wiki permission, for any author', () => {
    for (const ownership of ['own', 'other', 'unknown', 'not-checked'] as const)
      expect(decide(unwikify, grantsOf('moderator'), ownership)).toEqual({
        verdict: 'allowed',
        because: 'Mark as community wiki',
      });
  });

  it('depends on ownership for callers with the permission for own posts', () => {
    const alice = grantsOf('alice');
    expect(decide(unwikify, alice, 'own')).toEqual({
      verdict: 'allowed',
      because: 'own node, Convert own posts to community wiki',
    });
    expect(decide(unwikify, alice, 'other')).toEqual({ verdict: 'denied', missing: ['Mark as community wiki'] });
    expect(decide(unwikify, alice, 'unknown')).toEqual({ verdict: 'delegated', because: 'ownership' });
    expect(decide(unwikify, alice, 'not-checked')).toEqual({ verdict: 'delegated', because: 'ownership' });
  });

  it('denies callers with neither permission, without looking up the author', () => {
    expect(decide(unwikify, grantsOf('guest'), 'not-checked')).toMatchObject({ verdict: 'denied' });
  });
});

it('a caller without an account is denied everything, even what needs no permission, if `unmapped` is `deny`', () => {
  const denied = { ...grantsOf('alice'), denied: true };
  const missing = ['an account in the roles file'];
  expect(decide(permissions.compile(undefined), denied, 'own')).toEqual({ verdict: 'denied', missing });
});

describe('the missing permissions of a denial', () => {
  it('are all that are missing from an all rule, in its order', () => {
    const decision = decide(permissions.requirementOf('actions'), grantsOf('bob'), 'not-checked');
    expect(decision).toEqual({ verdict: 'denied', missing: ['View analytics', 'Super Users'] });
  });

  it('are those of each alternative of an any rule', () => {
    const decision = decide(permissions.requirementOf('upload'), grantsOf('bob'), 'not-checked');
    expect(decision).toEqual({
      verdict: 'denied',
      missing: ['admin', 'superuser'],
      alternatives: ['admin', 'superuser'],
    });
  });

  it('start with the alternative that lacks least', () => {
    const nearest = permissions.compile({
      any: [
        { all: [{ permission: 'View analytics' }, { group: 'Super Users' }] },
        { all: [{ permission: 'Edit users and groups' }, { permission: 'View users list' }] },
      ],
    });
    expect(decide(nearest, grantsOf('bob'), 'not-checked')).toEqual({
      verdict: 'denied',
      missing: ['Edit users and groups', 'View analytics', 'Super Users'],
      alternatives: ['Edit users and groups', 'View analytics and Super Users'],
    });
  });

  it('consist of ownership if nothing else would suffice', () => {
    const authorOnly = permissions.compile({ own: { all: [] } });
    expect(decide(authorOnly, grantsOf('admin'), 'other')).toEqual({
      verdict: 'denied',
      missing: ['ownership of the node'],
    });
    expect(decide(authorOnly, grantsOf('guest'), 'own')).toEqual({ verdict: 'allowed', because: 'own node' });
  });
});

import { describe, expect, it } from 'vitest';
import { resolveRole } from '../../src/permissions/resolve-role.ts';

describe('a resolved role', () => {
  it('holds what it inherits, each once, itself first', () => {
    const roles = new Map([
      ['a', { inherits: ['b', 'c'], permissions: ['p'] }],
      ['b', { inherits: ['d'], permissions: ['q'] }],
      ['c', { inherits: ['d'], permissions: ['p', 'r'] }],
      ['d', { inherits: [], permissions: ['s'] }],
    ]);
    expect(resolveRole(roles, 'a')).toEqual({ names: ['a', 'b', 'd', 'c'], permissions: ['p', 'q', 's', 'r'] });
  });

  it('ends where inheritance goes round or leads nowhere', () => {
    const roles = new Map([['a', { inherits: ['a', 'nowhere'], permissions: ['p'] }]]);
    expect(resolveRole(roles, 'a')).toEqual({ names: ['a'], permissions: ['p'] });
    expect(resolveRole(roles, 'nowhere')).toEqual({ names: [], permissions: [] });
  });
});

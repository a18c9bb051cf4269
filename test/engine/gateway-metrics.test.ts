import { describe, expect, it } from 'vitest';
import { permissionLabels } from '../../src/engine/gateway-metrics.ts';

describe('the permissions that a denied caller can lack', () => {
  it('are those of operations and allowed paths, each once, and an account and ownership', () => {
    const operations = [
      { requires: { any: [{ flag: 'admin' }, { own: { permission: 'Convert own posts' } }] } },
      { requires: { all: [{ permission: 'View list' }, { group: 'Super Users' }] } },
      { requires: { permission: 'View list' } },
      { requires: undefined },
    ];
    const undocumented = {
      allow: [
        { method: 'GET', path: '/a', permission: 'Read' },
        { method: 'GET', path: '/b' },
      ],
    };
    expect(permissionLabels({ undocumented }, operations)).toEqual([
      'Convert own posts',
      'Read',
      'Super Users',
      'View list',
      'admin',
      'ownership of the node',
      'an account in the roles file',
      "the account's own spelling of the name",
    ]);
  });
});

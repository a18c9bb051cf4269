import { describe, expect, it } from 'vitest';
import { describeRequirement, type Requirement } from '../../../src/engine/model/operation.ts';

describe('a requirement as text', () => {
  it.each<[Requirement | undefined, string]>([
    [undefined, 'none beyond authentication'],
    [{ group: 'Super Users' }, 'group "Super Users"'],
    [{ flag: 'admin' }, 'flag admin'],
    [
      { any: [{ permission: 'A' }, { all: [{ permission: 'B' }, { own: { permission: 'C' } }] }] },
      '("A" or ("B" and own node and "C"))',
    ],
  ])('%j is %s', (requirement, text) => {
    expect(describeRequirement(requirement)).toBe(text);
  });
});

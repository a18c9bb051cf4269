import { describe, expect, it } from 'vitest';
import { ownershipOf } from '../../src/permissions/ownership-of.ts';
import { principal } from './permissions-fixtures.ts';

describe('ownership between a caller and an author', () => {
  it.each([
    ['verified', 'alice', 'alice', 'own'],
    ['verified', 'alice', 'bob', 'other'],
    ['verified', 'alice', 'Alice', 'other'],
    ['verified', 'alice', undefined, 'unknown'],
    ['unverified', 'alice', 'alice', 'unknown'],
    ['unverified', undefined, undefined, 'unknown'],
    ['anonymous', undefined, 'alice', 'other'],
    ['anonymous', undefined, undefined, 'other'],
  ] as const)('of a %s %s and %s is %s', (kind, name, author, expected) => {
    expect(ownershipOf(principal(kind, name), author)).toBe(expected);
  });
});

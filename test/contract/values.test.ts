import { describe, expect, it } from 'vitest';
import { survives, toProjection } from '../../src/contract/values.ts';

const projection = (parts: Partial<{ include: string[]; exclude: string[]; includeOnly: string[] }>) => ({
  include: [],
  exclude: [],
  includeOnly: [],
  ...parts,
});

describe('a projection', () => {
  it('is undefined if no field is named', () => {
    expect(toProjection(new Map([['includeOnly', ['', ' , ']]]))).toBeUndefined();
  });

  it('collects repeated parameters and trims names', () => {
    expect(toProjection(new Map([['exclude', ['a, b', 'c.d']]]))?.exclude).toEqual(['a', 'b', 'c.d']);
  });

  it('keeps every field if it is undefined', () => {
    expect(survives(undefined, 'author')).toBe(true);
  });

  it.each([
    [projection({ includeOnly: ['id'] }), 'id', true],
    [projection({ includeOnly: ['id'] }), 'type', false],
    [projection({ includeOnly: ['author'] }), 'author.id', true],
    [projection({ includeOnly: ['author.id'] }), 'author', false],
    [projection({ exclude: ['body'] }), 'type', true],
    [projection({ exclude: ['author.id'] }), 'author', false],
    [projection({ exclude: ['author'] }), 'author.id', false],
    [projection({ exclude: ['auth'] }), 'author', true],
    [projection({ include: ['slug'] }), 'type', false],
    [projection({ include: ['type'] }), 'type', true],
  ])('%j keeps %s: %s', (asked, field, expected) => {
    expect(survives(asked, field)).toBe(expected);
  });
});

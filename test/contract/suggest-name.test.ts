import { describe, expect, it } from 'vitest';
import { suggestName } from '../../src/contract/suggest-name.ts';

describe('suggesting a name', () => {
  it.each([
    ['space', 'spaceId'],
    ['pagesize', 'pageSize'],
    ['srot', 'sort'],
    ['sorts', 'sort'],
    ['zebra', undefined],
    ['', undefined],
    ['x'.repeat(65), undefined],
  ])('for %s gives %s', (written, expected) => {
    expect(suggestName(written, ['page', 'pageSize', 'spaceId', 'sort', 'q'])).toBe(expected);
  });
});

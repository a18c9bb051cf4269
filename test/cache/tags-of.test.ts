import { describe, expect, it } from 'vitest';
import { tagOf, tagsOf } from '../../src/cache/tags-of.ts';

describe('tags', () => {
  it('are filled with path parameters', () => {
    expect(tagsOf(['node:{nodeId}', 'ideas'], { nodeId: '17' })).toEqual(['node:17', 'ideas']);
    expect(tagsOf(['x-{a}-y'], { a: 'b' })).toEqual(['x-b-y']);
  });

  it('become the wildcard of their kind where the parameter is missing', () => {
    expect(tagsOf(['node:{nodeId}'], {})).toEqual(['node:*']);
    expect(tagsOf(['node:{toString}'], {})).toEqual(['node:*']);
  });

  it('are one for one id however it is written', () => {
    expect(tagOf('node', '007')).toBe(tagOf('node', 7));
  });

  it('meet for 64-bit ids that JSON.parse has rounded', () => {
    const parsed = JSON.parse('9007199254740993') as number;
    expect(tagOf('node', parsed)).toBe(tagOf('node', '9007199254740993'));
    const largest = JSON.parse('9223372036854775807') as number;
    expect(tagOf('node', largest)).toBe(tagOf('node', '9223372036854775807'));
  });
});

import { describe, expect, it } from 'vitest';
import { itemTags, tagOf, tagsOf } from '../../src/cache/tags.ts';

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

describe('item tags', () => {
  it('name the nodes of a list, with ids written as numbers or as text', () => {
    expect(itemTags({ list: [{ id: 5 }, { id: '6' }, { id: 5 }] }, 'list')).toEqual(['node:5', 'node:6']);
  });

  it('name the node itself, the elements of a bare array, and the nodes of actions', () => {
    expect(itemTags({ id: 5 }, 'body')).toEqual(['node:5']);
    expect(itemTags([{ id: 5 }], 'elements')).toEqual(['node:5']);
    expect(itemTags({ actions: [{ id: 1, node: { id: 5 } }] }, 'actions')).toEqual(['node:5']);
  });

  it('name another kind where the items are no nodes', () => {
    expect(itemTags({ list: [{ id: 5 }] }, 'list', 'user')).toEqual(['user:5']);
  });

  it('are the wildcard for items whose id was projected away, and for what is no list', () => {
    expect(itemTags({ list: [{ id: 5 }, { title: 'x' }] }, 'list')).toEqual(['node:5', 'node:*']);
    expect(itemTags({ list: 'x' }, 'list')).toEqual(['node:*']);
    expect(itemTags(null, 'actions')).toEqual(['node:*']);
  });

  it('are bounded: the wildcard stands for too many items', () => {
    expect(itemTags({ list: Array.from({ length: 1000 }, (_, id) => ({ id })) }, 'list')).toHaveLength(1000);
    expect(itemTags({ list: Array.from({ length: 1001 }, (_, id) => ({ id })) }, 'list')).toEqual(['node:*']);
  });
});

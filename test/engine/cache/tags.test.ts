import { describe, expect, it } from 'vitest';
import { nodes } from '../../../src/profile/ownership.ts';
import { itemTags, tagOf, tagsOf } from '../../../src/engine/cache/tags.ts';

describe('tags', () => {
  it('contain path parameters', () => {
    expect(tagsOf(['node:{nodeId}', 'ideas'], { nodeId: '17' })).toEqual(['node:17', 'ideas']);
    expect(tagsOf(['x-{a}-y'], { a: 'b' })).toEqual(['x-b-y']);
  });

  it('become the wildcard of their kind if the parameter is missing', () => {
    expect(tagsOf(['node:{nodeId}'], {})).toEqual(['node:*']);
    expect(tagsOf(['node:{toString}'], {})).toEqual(['node:*']);
  });

  it('are equal for all spellings of an id', () => {
    expect(tagOf('node', '007')).toBe(tagOf('node', 7));
  });

  it('are equal for 64-bit ids that JSON.parse has rounded', () => {
    const parsed = JSON.parse('9007199254740993') as number;
    expect(tagOf('node', parsed)).toBe(tagOf('node', '9007199254740993'));
    const largest = JSON.parse('9223372036854775807') as number;
    expect(tagOf('node', largest)).toBe(tagOf('node', '9223372036854775807'));
  });
});

describe('item tags', () => {
  it('contain the nodes of a list, with ids as numbers or text', () => {
    expect(itemTags({ list: [{ id: 5 }, { id: '6' }, { id: 5 }] }, 'list', nodes)).toEqual(['node:5', 'node:6']);
  });

  it('contain the node itself, the elements of a bare array, and the nodes of actions', () => {
    expect(itemTags({ id: 5 }, 'body', nodes)).toEqual(['node:5']);
    expect(itemTags([{ id: 5 }], 'elements', nodes)).toEqual(['node:5']);
    expect(itemTags({ actions: [{ id: 1, node: { id: 5 } }] }, 'actions', nodes)).toEqual(['node:5']);
  });

  it('have another kind if the items are not nodes', () => {
    expect(itemTags({ list: [{ id: 5 }] }, 'list', { ...nodes, kind: 'user' })).toEqual(['user:5']);
  });

  it('are the wildcard for items without an id and for anything that is not a list', () => {
    expect(itemTags({ list: [{ id: 5 }, { title: 'x' }] }, 'list', nodes)).toEqual(['node:5', 'node:*']);
    expect(itemTags({ list: 'x' }, 'list', nodes)).toEqual(['node:*']);
    expect(itemTags(null, 'actions', nodes)).toEqual(['node:*']);
  });

  it('are bounded: too many items result in the wildcard', () => {
    expect(itemTags({ list: Array.from({ length: 1000 }, (_, id) => ({ id })) }, 'list', nodes)).toHaveLength(1000);
    expect(itemTags({ list: Array.from({ length: 1001 }, (_, id) => ({ id })) }, 'list', nodes)).toEqual(['node:*']);
  });
});

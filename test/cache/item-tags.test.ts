import { describe, expect, it } from 'vitest';
import { itemTags } from '../../src/cache/item-tags.ts';

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
    expect(itemTags({ list: Array.from({ length: 1001 }, (_, id) => ({ id })) }, 'list')).toEqual(['node:*']);
  });
});

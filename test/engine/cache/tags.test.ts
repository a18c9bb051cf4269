import { describe, expect, it } from 'vitest';
import { nodes } from '../../../src/profile/ownership.ts';
import {
  createTagIndex,
  invalidatingTags,
  itemTags,
  purgeReach,
  tagOf,
  tagsOf,
} from '../../../src/engine/cache/tags.ts';

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

describe('ids that are not numbers', () => {
  it.each([
    ['abc', 'node:abc'],
    ['7x', 'node:7x'],
    ['x7', 'node:x7'],
    ['', 'node:'],
    [-1, 'node:-1'],
    [1.5, 'node:1.5'],
    ['0'.repeat(21), `node:${'0'.repeat(21)}`],
    ['0'.repeat(20), 'node:0'],
    [0, 'node:0'],
  ])('%j are in the tag as they are: %s', (id, tag) => {
    expect(tagOf('node', id)).toBe(tag);
  });
});

/*
 * A purge must reach every page that can contain what has changed: pages that list unknown items have the wildcard tag,
 * and a purge of the wildcard reaches all pages of the kind.
 */
describe('a purge', () => {
  it('of an item reaches the pages with its tag and those with the wildcard of its kind', () => {
    expect([...purgeReach(['node:5'])]).toEqual(['node:5', 'node:*']);
  });

  it('of a wildcard reaches all pages of the kind', () => {
    expect([...purgeReach(['node:*'])]).toEqual(['node:*', 'node:**']);
  });

  it('of a tag without a kind reaches only the pages with this tag', () => {
    expect([...purgeReach(['ideas', ':5'])]).toEqual(['ideas', ':5']);
  });

  it('invalidates a page if it reaches one of its tags, or all pages of their kinds', () => {
    expect([...invalidatingTags(['node:5', 'user:7', 'ideas'])]).toEqual([
      'node:5',
      'node:**',
      'user:7',
      'user:**',
      'ideas',
    ]);
  });
});

describe('the index of tags', () => {
  it('returns the keys of a tag, and those of all tags of a kind', () => {
    const index = createTagIndex();
    index.add('a', ['node:5', 'ideas']);
    index.add('b', ['node:5', 'node:6']);
    index.add('c', ['user:5', 'nodes:5']);
    expect(index.keysOf('node:5')).toEqual(['a', 'b']);
    expect(index.keysOf('node:7')).toEqual([]);
    expect(index.keysOf('node:**').toSorted()).toEqual(['a', 'b', 'b']);
    expect([...index.counts()]).toContainEqual(['node:5', 2]);
    expect(index.size).toBe(5);
  });

  it('forgets a key, and a tag without keys', () => {
    const index = createTagIndex();
    index.add('a', ['node:5', 'ideas']);
    index.add('b', ['node:5']);
    index.remove('a', ['node:5', 'ideas', 'never added']);
    expect([index.keysOf('node:5'), index.keysOf('ideas'), index.size]).toEqual([['b'], [], 1]);
    index.remove('c', ['node:5']);
    expect(index.keysOf('node:5')).toEqual(['b']);
    index.clear();
    expect(index.size).toBe(0);
  });
});

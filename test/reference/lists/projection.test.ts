import { describe, expect, it } from 'vitest';
import { project, readProjection } from '../../../src/reference/lists/projection.ts';
import { rawJson } from '../../../src/reference/render/to-node.ts';

const item = {
  id: 7,
  title: 'T',
  author: { id: 1, username: 'ann', reputation: 5 },
  topics: [
    { id: 2, name: 'a' },
    { id: 3, name: 'b' },
  ],
};
const shown = (query: string): unknown => project({ ...item }, readProjection(new URLSearchParams(query)));

describe('projection', () => {
  it('returns all fields without a parameter', () => {
    expect(shown('')).toEqual(item);
  });

  it('returns only the fields of includeOnly, with dotted paths into objects and lists', () => {
    expect(shown('includeOnly=id,author.username,topics.name')).toEqual({
      id: 7,
      author: { username: 'ann' },
      topics: [{ name: 'a' }, { name: 'b' }],
    });
  });

  it('returns the whole object if includeOnly names both the object and one of its fields', () => {
    expect(shown('includeOnly=author,author.username')).toEqual({ author: item.author });
  });

  it('removes the fields of exclude after applying includeOnly', () => {
    expect(shown('exclude=topics,author.reputation')).toEqual({
      id: 7,
      title: 'T',
      author: { id: 1, username: 'ann' },
    });
    expect(shown('includeOnly=id,title&exclude=title')).toEqual({ id: 7 });
  });

  it('combines repeated parameters into one list', () => {
    expect(shown('includeOnly=id&includeOnly=title')).toEqual({ id: 7, title: 'T' });
  });

  it('does not change raw numbers', () => {
    const raw = { activeRevisionId: rawJson('9007199254740993'), revisionIds: [rawJson('9007199254740993')] };
    const kept = project(raw, readProjection(new URLSearchParams('exclude=title')));
    expect(JSON.stringify(kept)).toBe('{"activeRevisionId":9007199254740993,"revisionIds":[9007199254740993]}');
  });
});

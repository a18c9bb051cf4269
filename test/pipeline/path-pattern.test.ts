import { describe, expect, it } from 'vitest';
import { compilePathPattern } from '../../src/pipeline/path-pattern.ts';

describe('a path pattern', () => {
  it.each([
    ['/a/{id}.json', '/a/7.json', true],
    ['/a/{id}.json', '/a/7/8.json', false],
    ['/a/{id}.json', '/a/.json', false],
    ['/a/{id}.json', '/A/7.json', false],
    ['/a/b.json', '/a/bxjson', false],
    ['/a/**', '/a/b/c', true],
    ['/a/**', '/a/', false],
    ['/a/**', '/ab', false],
    ['/a/*/c', '/a/b/c', true],
  ])('%s on %s is %s', (pattern, path, expected) => {
    expect(compilePathPattern(pattern)(path)).toBe(expected);
  });
});

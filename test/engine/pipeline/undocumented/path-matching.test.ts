import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { PROFILE } from '../../../../src/profile/profile.ts';
import { compilePathPattern, plainPath } from '../../../../src/engine/pipeline/undocumented/path-matching.ts';
import { compilePathTemplate } from '../../../../src/engine/privacy/path-template.ts';
import { placeText } from '../../../../src/engine/privacy/path-text.ts';

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
    ['/a/**', '/a//', true],
    ['/a/**', '/a', false],
    ['/a/*/c', '/a/b/c', true],
    ['/a/{x}-{y}.json', '/a/1-2.json', true],
    ['/a/{x}-{y}.json', '/a/1--2.json', true],
    ['/a/{x}-{y}.json', '/a/--2.json', true],
    ['/a/{x}-{y}.json', '/a/-2.json', false],
    ['/a/{x}-{y}.json', '/a/1-.json', false],
    ['/a/{x}-{y}.json', '/a/1.json', false],
    ['/a/x*x', '/a/xx', false],
    ['/a/x*x', '/a/xyx', true],
    ['/a/**/b', '/a/xy/b', true],
    ['/a/**/b', '/a/x/b', false],
    ['/a/.*', '/a/bc', false],
  ])('%s on %s is %s', (pattern, path, expected) => {
    expect(compilePathPattern(pattern)(path)).toBe(expected);
  });
});

// These spellings keep the event loop busy if they are read with an expression that is tried at each position.
it.each([
  ['/a'.padEnd(8_100, '.') + 'b', '/a'.padEnd(8_100, '.') + 'b'],
  ['/a' + '%2e'.repeat(2_700) + 'b', '/a' + '.'.repeat(2_700) + 'b'],
  ['/a' + ' .'.repeat(4_000), '/a'],
  ['/a' + '%20%2E'.repeat(1_300), '/a'],
  ['/a' + ';'.repeat(8_000) + '/b', '/a/b'],
  ['/a%3B;' + '%3b'.repeat(2_600), '/a'],
  ['/a' + '/'.repeat(8_000), '/a'],
])('the plain form of a long path contains what a server may read: %.12s…', (path, plain) => {
  expect(plainPath(path)).toBe(plain);
});

it('the template of any path is a pattern that matches the path, also after the ledger has stored it', () => {
  const template = compilePathTemplate(['/services/v2/question/{questionId}/answer.json'], PROFILE).of;
  const segment = fc.oneof(
    fc.constantFrom('question', 'answer', 'poll', '7', 'QA-1', 'a.b', '', 'jana%20cerny', 'x'.repeat(31)),
    fc.string({ unit: fc.constantFrom(...'abcXYZ019._~-%:@'.split('')), maxLength: 40 }),
  );
  const path = fc
    .tuple(fc.array(segment, { minLength: 1, maxLength: 14 }), fc.constantFrom('', '.json', '/'))
    .map(([segments, ending]) => `/services/v2/${segments.join('/')}${ending}`);
  fc.assert(
    fc.property(path, fc.boolean(), (sent, exists) => {
      const found = template(sent, exists);
      const stored = placeText(`GET ${found}`).slice(4);
      expect(compilePathPattern(found)(sent), found).toBe(true);
      expect(stored.endsWith('…') || stored === found, stored).toBe(true);
    }),
  );
});

import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { PATH_WORDS } from '../../../src/profile/path-words.ts';
import { placeText, safePath } from '../../../src/engine/privacy/path-text.ts';

describe('the path of a log line', () => {
  it.each([
    ['/services/v2/question.json?q=secret', '/services/v2/question.json'],
    ['/services/v2/user/4711.json', '/services/v2/user/{}.json'],
    ['/services/v2/question/17/answer.json', '/services/v2/question/{}/answer.json'],
    ['/services/v2/user/alice%40example.org/posts', '/services/v2/user/{}/posts'],
    ['/services/v2/user/annabelle.json', '/services/v2/user/{}.json'],
    ['/annabelle', '/{}'],
    ['/', '/'],
    ['', ''],
  ])('of %s is %s', (target, path) => {
    expect(safePath(target, PATH_WORDS)).toBe(path);
  });

  it('is bounded for any target', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 5000 }), (target) => safePath(`/${target}`, PATH_WORDS).length <= 161),
    );
    expect(safePath('/a'.repeat(5000), PATH_WORDS).length).toBeLessThanOrEqual(161);
    expect(safePath('/a'.repeat(12), PATH_WORDS)).toBe(`${'/{}'.repeat(11)}…`);
  });
});

// A caller can invent any number of names of any length.
it('the place of a violation is bounded, as is each of its segments', () => {
  const name = 'questionTitle';
  expect(placeText(`/list/${name.repeat(4)}`)).toBe(`/list/${name.repeat(4)}`);
  expect(placeText(`/list/${name.repeat(5)}`)).toBe('/list/?');
  expect(placeText(`/${name}`.repeat(50))).toBe(`${`/${name}`.repeat(50).slice(0, 200)}…`);
});

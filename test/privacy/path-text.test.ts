import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compilePathTemplate, placeText, safePath } from '../../src/privacy/path-text.ts';
import { document } from '../contract/sample.ts';

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
    expect(safePath(target)).toBe(path);
  });

  it('is bounded for any target', () => {
    fc.assert(fc.property(fc.string({ maxLength: 5000 }), (target) => safePath(`/${target}`).length <= 161));
    expect(safePath('/a'.repeat(5000)).length).toBeLessThanOrEqual(161);
    expect(safePath('/a'.repeat(12))).toBe(`${'/{}'.repeat(11)}…`);
  });
});

// A caller can invent names of any length and any number of them.
it('the place of a violation is bounded, as is each of its segments', () => {
  const name = 'questionTitle';
  expect(placeText(`/list/${name.repeat(4)}`)).toBe(`/list/${name.repeat(4)}`);
  expect(placeText(`/list/${name.repeat(5)}`)).toBe('/list/?');
  expect(placeText(`/${name}`.repeat(50))).toBe(`${`/${name}`.repeat(50).slice(0, 200)}…`);
});

const { of: templateOf } = compilePathTemplate(Object.keys(document.paths));

describe('compilePathTemplate', () => {
  it.each([
    ['/services/v2/question/118.json', '/services/v2/question/{id}.json'],
    ['/services/v2/question/118/answer.json', '/services/v2/question/{id}/answer.json'],
    ['/services/v2/user/getByUsername.json', '/services/v2/user/getByUsername.json'],
    ['/services/v2/issuetracker/key/QA-1/ticket.json', '/services/v2/issuetracker/key/{name}/ticket.json'],
    ['/services/v2/widget.json', '/services/v2/widget.json'],
    ['/services/v2/widget/7/part.json', '/services/v2/widget/{id}/part.json'],
    ['/login', '/login'],
    ['/', '/'],
  ])('keeps fixed words: %s', (path, template) => {
    expect(templateOf(path, true)).toBe(template);
  });

  it.each([
    ['/services/v2/user/alice.json', '/services/v2/user/{name}.json'],
    ['/services/v2/user/jana.cerny@example.org.json', '/services/v2/user/{name}.json'],
    ['/services/v2/jana%20cerny/7.json', '/services/v2/{name}/{id}.json'],
    ['/services/v2/question/why-is-jana-ill.json', '/services/v2/question/{name}.json'],
    ['/services/v2/topic/7f9a3b2c1d/x.json', '/services/v2/topic/{name}/x.json'],
  ])('replaces text that may be personal: %s', (path, template) => {
    expect(templateOf(path, true)).toBe(template);
  });

  it('replaces unknown words in a path that does not exist', () => {
    expect(templateOf('/services/v2/alice.json', false)).toBe('/services/v2/{name}.json');
    expect(templateOf('/services/v2/question/7/alice.json', false)).toBe('/services/v2/question/{id}/{name}.json');
    expect(templateOf('/services/v2/question/7/answer.json', false)).toBe('/services/v2/question/{id}/answer.json');
  });

  it('ends after the tenth segment and then stands for everything below', () => {
    expect(templateOf(`/services/v2${'/1'.repeat(50)}`, true)).toBe(`/services/v2${'/{id}'.repeat(8)}/**`);
  });
});

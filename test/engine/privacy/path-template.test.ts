import { describe, expect, it } from 'vitest';
import { PROFILE } from '../../../src/profile/profile.ts';
import { compilePathTemplate } from '../../../src/engine/privacy/path-template.ts';

const PATHS = [
  '/services/v2/question/{id}.json',
  '/services/v2/question/{id}/answer.json',
  '/services/v2/user/getByUsername.json',
  '/services/v2/topic.json',
];
const { of: templateOf, isKnown } = compilePathTemplate(PATHS, PROFILE);

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

  it('knows the words of the contract and of the profile, but not the names of parameters', () => {
    expect(['services', 'question', 'answer', 'getByUsername', 'login'].filter((word) => !isKnown(word))).toEqual([]);
    expect(['{id}', 'alice', 'question.json', ''].filter(isKnown)).toEqual(['']);
  });

  it('ends after the tenth segment and then stands for everything below', () => {
    expect(templateOf(`/services/v2${'/1'.repeat(50)}`, true)).toBe(`/services/v2${'/{id}'.repeat(8)}/**`);
  });
});

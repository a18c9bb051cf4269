import { describe, expect, it } from 'vitest';
import { readTarget } from '../workbench/compare/two-servers.ts';

describe('a target that is to be sent to another server', () => {
  it.each([
    ['/services/v2/question.json?access_token=abc', true],
    ['/services/v2/question.json?page=2&x=eyJhbGciOiJIUzI1NiJ9.e30.c2ln', true],
    ['/services/v2/question.json?pass%77ord=abc', true],
    ['/services/v2/unknown.json?token=abc', true],
    // What somebody has searched for is meant for either server.
    ['/services/v2/question.json?q=token%3Dabc&page=2', false],
    ['/services/v2/question.json?page=2&space=7', false],
    ['/services/v2/question.json', false],
  ])('%s: contains a credential: %s', (target, expected) => {
    expect(readTarget(target).hasCredential).toBe(expected);
  });
});

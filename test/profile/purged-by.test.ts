import { describe, expect, it } from 'vitest';
import { purgedBy } from '../../src/profile/purged-by.ts';

describe('the purges of an undocumented write', () => {
  it('include the node that it names and the lists of its resource', () => {
    expect(purgedBy('/services/v2/question/17/answer.json')).toEqual(['node:17', 'questions']);
    expect(purgedBy('/services/v2/idea/3.json')).toEqual(['node:3', 'ideas']);
  });

  it('include only the lists if no node is named', () => {
    expect(purgedBy('/services/v2/topic.json')).toContain('topics');
  });

  it('include everything if the resource is unknown', () => {
    expect(purgedBy('/services/v2/jobs/gdpr/schedule.json')).toBeUndefined();
    expect(purgedBy('/elsewhere/question/17.json')).toBeUndefined();
  });

  // Every object inherits these properties. Looking up a name chosen by a client must not find them.
  it.each(['constructor', 'toString', '__proto__'])('include everything for a resource called %s', (name) => {
    expect(purgedBy(`/services/v2/${name}/17.json`)).toBeUndefined();
  });

  it('include no node for an invalid id', () => {
    expect(purgedBy('/services/v2/question/17x/answer.json')).toEqual(['questions']);
    expect(purgedBy('/services/v2/question/17.json')).toEqual(['node:17', 'questions']);
  });
});

import { describe, expect, it } from 'vitest';
import { passthroughPurges } from '../../../src/pipeline/undocumented/purge-tags.ts';

describe('the purges of an undocumented write', () => {
  it('include the node that it names and the lists of its resource', () => {
    expect(passthroughPurges('/services/v2/question/17/answer.json')).toEqual(['node:17', 'questions']);
    expect(passthroughPurges('/services/v2/idea/3.json')).toEqual(['node:3', 'ideas']);
  });

  it('include only the lists if no node is named', () => {
    expect(passthroughPurges('/services/v2/topic.json')).toContain('topics');
  });

  it('include everything if the resource is unknown', () => {
    expect(passthroughPurges('/services/v2/jobs/gdpr/schedule.json')).toBeUndefined();
    expect(passthroughPurges('/elsewhere/question/17.json')).toBeUndefined();
  });

  // Every object inherits these properties. Looking up a name chosen by a client must not find them.
  it.each(['constructor', 'toString', '__proto__'])('include everything for a resource called %s', (name) => {
    expect(passthroughPurges(`/services/v2/${name}/17.json`)).toBeUndefined();
  });

  it('include no node for an invalid id', () => {
    expect(passthroughPurges('/services/v2/question/17x/answer.json')).toEqual(['questions']);
    expect(passthroughPurges('/services/v2/question/17.json')).toEqual(['node:17', 'questions']);
  });
});

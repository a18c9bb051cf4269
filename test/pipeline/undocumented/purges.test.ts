import { describe, expect, it } from 'vitest';
import { passthroughPurges } from '../../../src/pipeline/undocumented/purges.ts';

describe('what a write past the contract purges', () => {
  it('is the node that it names and the lists of its resource', () => {
    expect(passthroughPurges('/services/v2/question/17/answer.json')).toEqual(['node:17', 'questions']);
    expect(passthroughPurges('/services/v2/idea/3.json')).toEqual(['node:3', 'ideas']);
  });

  it('is the lists alone where no node is named', () => {
    expect(passthroughPurges('/services/v2/topic.json')).toContain('topics');
  });

  it('is everything where the resource is unknown', () => {
    expect(passthroughPurges('/services/v2/jobs/gdpr/schedule.json')).toBeUndefined();
    expect(passthroughPurges('/elsewhere/question/17.json')).toBeUndefined();
  });

  // Every object has these; a name that the client chooses must not find them.
  it.each(['constructor', 'toString', '__proto__'])('is everything for a resource called %s', (name) => {
    expect(passthroughPurges(`/services/v2/${name}/17.json`)).toBeUndefined();
  });

  it('names no node whose id is none', () => {
    expect(passthroughPurges('/services/v2/question/17x/answer.json')).toEqual(['questions']);
    expect(passthroughPurges('/services/v2/question/17.json')).toEqual(['node:17', 'questions']);
  });
});

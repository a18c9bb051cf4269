import { describe, expect, it } from 'vitest';
import { createAudienceGuard } from '../../src/cache/audience-guard.ts';

const byAlice = { caller: 'alice', etag: '"1"' };
const byBob = { caller: 'bob', etag: '"2"' };

describe('the audience guard', () => {
  it('compares the configured share of hits', () => {
    let next = 0;
    const guard = createAudienceGuard({ sampleShared: 0.25, random: () => (next++ % 100) / 100 });
    const asked = Array.from({ length: 100 }, () => guard.shouldCompare('listIdeas', byAlice, 'bob'));
    expect(asked.filter(Boolean)).toHaveLength(25);
  });

  it('compares nothing at a share of 0 and everything at 1', () => {
    const never = createAudienceGuard({ sampleShared: 0, random: () => 0 });
    const always = createAudienceGuard({ sampleShared: 1, random: () => 0.999_999 });
    expect(never.shouldCompare('listIdeas', byAlice, 'bob')).toBe(false);
    expect(always.shouldCompare('listIdeas', byAlice, 'bob')).toBe(true);
  });

  it('does not compare a caller with itself, nor a page that was not fetched for a single caller', () => {
    const guard = createAudienceGuard({ sampleShared: 1, random: () => 0 });
    expect(guard.shouldCompare('listIdeas', byAlice, 'alice')).toBe(false);
    expect(guard.shouldCompare('listIdeas', undefined, 'alice')).toBe(false);
    expect(guard.compare('listIdeas', byAlice, { ...byBob, caller: 'alice' })).toBe('not comparable');
    expect(guard.isDemoted('listIdeas')).toBe(false);
  });

  it('demotes an operation once if the responses of two callers differ, and no other operation', () => {
    const heard: string[] = [];
    const onDemoted = (id: string) => heard.push(id);
    const guard = createAudienceGuard({ sampleShared: 1, random: () => 0, onDemoted });
    expect(guard.compare('listIdeas', byAlice, byBob)).toBe('differs');
    guard.compare('listIdeas', byAlice, byBob);
    expect([guard.isDemoted('listIdeas'), guard.isDemoted('listQuestions')]).toEqual([true, false]);
    expect([heard, guard.demoted()]).toEqual([['listIdeas'], ['listIdeas']]);
    expect(guard.shouldCompare('listIdeas', byAlice, 'bob')).toBe(false);
  });

  it('demotes an operation on request, once', () => {
    const heard: string[] = [];
    const guard = createAudienceGuard({ sampleShared: 0, random: () => 0, onDemoted: (id) => heard.push(id) });
    guard.demote('listIdeas');
    guard.demote('listIdeas');
    expect([heard, guard.isDemoted('listIdeas')]).toEqual([['listIdeas'], true]);
  });

  it('does not demote an operation while the responses are the same', () => {
    const guard = createAudienceGuard({ sampleShared: 1, random: () => 0 });
    expect(guard.compare('listIdeas', byAlice, { ...byAlice, caller: 'bob' })).toBe('same');
    expect(guard.isDemoted('listIdeas')).toBe(false);
  });
});

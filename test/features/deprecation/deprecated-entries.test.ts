import { describe, expect, it } from 'vitest';
import {
  endingAt,
  nextBrownout,
  readEntries,
  subjectOf,
} from '../../../src/features/deprecation/deprecated-entries.ts';
import type { EntryOptions } from '../../../src/features/deprecation/options.ts';

const at = (text: string) => Date.parse(`2026-05-${text}Z`);
const entry = (more: Partial<EntryOptions> = {}): EntryOptions => ({
  operations: ['listIdeas'],
  since: '2026-01-01',
  refuseAfterSunset: false,
  brownouts: [],
  dryRun: false,
  ...more,
});
const brownout = (from: string, to: string) => ({ from: `2026-05-${from}Z`, to: `2026-05-${to}Z` });
const never = () => false;

describe('the entries that apply to a request', () => {
  const entries = readEntries([entry(), entry({ parameter: 'sort' }), entry({ operations: ['listQuestions'] })]);
  const subjects = (operation: string, parameters: readonly string[]) =>
    entries.of(operation, parameters).map(subjectOf);

  it('are those of the operation, and those of its parameters in the request', () => {
    expect(subjects('listIdeas', [])).toEqual(['listIdeas']);
    expect(subjects('listIdeas', ['page', 'sort'])).toEqual(['listIdeas', 'sort of listIdeas']);
    expect(subjects('listQuestions', ['sort'])).toEqual(['listQuestions']);
    expect(subjects('listArticles', ['sort'])).toEqual([]);
  });

  it('are the same list each time', () => {
    expect(entries.of('listIdeas', ['sort', 'page'])).toBe(entries.of('listIdeas', ['page', 'sort']));
  });

  it('can refuse only if they have an ending and are not a dry run', () => {
    const mayRefuse = (more: Partial<EntryOptions>) => readEntries([entry(more)]).mayRefuse('listIdeas');
    const brownouts = [brownout('01T10:00', '01T11:00')];
    expect(mayRefuse({})).toBe(false);
    expect(mayRefuse({ sunset: '2026-05-01' })).toBe(false);
    expect(mayRefuse({ sunset: '2026-05-01', refuseAfterSunset: true })).toBe(true);
    expect(mayRefuse({ brownouts })).toBe(true);
    expect(mayRefuse({ brownouts, dryRun: true })).toBe(false);
  });
});

describe('the ending of a request', () => {
  const { all } = readEntries([
    entry({ brownouts: [brownout('02T10:00', '02T11:00'), brownout('01T10:00', '01T11:00')] }),
    entry({
      parameter: 'sort',
      brownouts: [brownout('01T10:30', '01T12:00')],
      sunset: '2026-05-03',
      refuseAfterSunset: true,
    }),
  ]);

  it.each([
    ['01T09:59:59.999', undefined],
    // The later end counts, because a client that waits for the earlier one would be refused again.
    ['01T10:00', '01T12:00'],
    ['01T10:45', '01T12:00'],
    ['01T11:30', '01T12:00'],
    ['01T12:00', undefined],
    ['02T10:59:59.999', '02T11:00'],
  ])('at %s is the brown-out in progress until %s', (now, until) => {
    const found = endingAt(all, at(now), never);
    expect(found).toEqual(
      until === undefined ? undefined : expect.objectContaining({ reason: 'brownout', until: at(until) }),
    );
  });

  it('is the sunset from that instant on, even during a brown-out', () => {
    expect(endingAt(all, at('02T23:59:59.999'), never)).toBeUndefined();
    expect(endingAt(all, at('03T00:00'), never)?.reason).toBe('sunset');
    const both = readEntries([
      entry({ brownouts: [brownout('01T10:00', '01T11:00')] }),
      entry({ sunset: '2026-05-01', refuseAfterSunset: true }),
    ]);
    expect(endingAt(both.all, at('01T10:30'), never)?.reason).toBe('sunset');
  });

  it('does not come from a revoked brown-out, and another period is not revoked with it', () => {
    const id = nextBrownout(all, at('01T00:00'), never)?.id ?? '';
    const isRevoked = (one: string) => one === id;
    expect(endingAt(all, at('01T10:15'), isRevoked)).toBeUndefined();
    expect(endingAt(all, at('02T10:15'), isRevoked)?.reason).toBe('brownout');
    expect(nextBrownout(all, at('01T00:00'), isRevoked)?.from).toBe(at('01T10:30'));
    const moved = readEntries([entry({ brownouts: [brownout('01T10:00', '01T11:30')] })]);
    expect(nextBrownout(moved.all, at('01T00:00'), never)?.id).not.toBe(id);
  });

  it('is announced with the end of all that overlap, unless one of them is revoked', () => {
    const next = nextBrownout(all, at('01T00:00'), never);
    expect(next).toMatchObject({ from: at('01T10:00'), to: at('01T12:00') });
    const second = all[1]?.brownouts[0]?.id;
    expect(nextBrownout(all, at('01T00:00'), (id) => id === second)?.to).toBe(at('01T11:00'));
  });

  it('has the same ids whatever the order of the operations', () => {
    const idOf = (operations: string[]) =>
      readEntries([entry({ operations, brownouts: [brownout('01T10:00', '01T11:00')] })]).all[0]?.brownouts[0]?.id;
    expect(idOf(['listIdeas', 'listQuestions'])).toBe(idOf(['listQuestions', 'listIdeas']));
    expect(idOf(['listIdeas'])).not.toBe(idOf(['listQuestions']));
  });
});

import { describe, expect, it } from 'vitest';
import { durationClass, type ReleaseStatistics } from '../../../src/engine/model/release-statistics.ts';
import { withDriftFrom, withLatestDrift, withoutDrift } from '../../../src/engine/model/release-drift.ts';
import { entryWith, snapshotWith } from '../../workbench/report/report-fixtures.ts';

type Counts = Readonly<Record<string, number>>;

const of = (release: string, counts: Counts, operation = 'listIdeas'): ReleaseStatistics => ({
  operation,
  release,
  counts,
});

/** Returns the differences between two releases with these counts. */
const driftOf = (before: Counts, after: Counts) =>
  withLatestDrift(snapshotWith([], { statistics: [of('1.0', before), of('1.1', after)] })).entries;

const took = (ms: number, count: number): Counts => ({
  'status 200': count,
  [`ms ${durationClass(ms / 1000)}`]: count,
});

describe('a field that was always there', () => {
  const sampled = (objects: number, fields: number): Counts => ({
    'object /list/*': objects,
    'field /list/*/x': fields,
  });

  it('and is gone from every response is drift', () => {
    expect(driftOf(sampled(40, 40), sampled(30, 0))).toMatchObject([
      {
        operation: 'listIdeas',
        category: 'release-drift',
        keyword: 'field-gone',
        at: '/list/*/x',
        message: '/list/*/x was in all 40 sampled responses of release 1.0 and is in none of 30 of release 1.1',
        count: 30,
        releases: { '1.1': 30 },
      },
    ]);
  });

  it('is not reported twice if the contract requires it', () => {
    const statistics = [of('1.0', sampled(40, 40)), of('1.1', sampled(40, 0))];
    const missing = entryWith({ operation: 'listIdeas', keyword: 'required', at: '/list/*/x' });
    expect(withLatestDrift(snapshotWith([missing], { statistics })).entries).toEqual([missing]);
  });

  it.each<[string, Counts, Counts]>([
    ['is still in some responses', sampled(40, 40), sampled(30, 1)],
    ['was optional before', sampled(40, 30), sampled(30, 0)],
    ['was in a few responses only', sampled(3, 3), sampled(3, 0)],
    ['was in many, but the new release has few', sampled(400, 400), sampled(2, 0)],
    ['has no object any more that could have it', sampled(40, 40), { 'object ': 40 }],
    ['is new', sampled(40, 0), sampled(40, 40)],
  ])('is not drift if it %s', (_name, before, after) => {
    expect(driftOf(before, after)).toEqual([]);
  });
});

describe('the time of a response', () => {
  it('that has multiplied is drift', () => {
    expect(driftOf(took(30, 50), took(300, 50))).toMatchObject([{ keyword: 'slower', count: 50 }]);
    expect(driftOf(took(30, 50), took(300, 50))[0]?.message).toMatch(
      /^the median time of a response was at most \d+ ms in release 1\.0 and is at least \d+ ms in release 1\.1$/,
    );
  });

  it.each<[string, Counts, Counts]>([
    ['of few responses', took(30, 10), took(300, 10)],
    ['that is shorter', took(300, 50), took(30, 50)],
    ['that is a little longer', took(100, 500), took(150, 500)],
    ['that multiplied within a few milliseconds', took(1, 500), took(6, 500)],
    ['of a few outliers', took(30, 100), { ...took(30, 100), [`ms ${durationClass(9)}`]: 20 }],
  ])('is not drift: %s', (_name, before, after) => {
    expect(driftOf(before, after)).toEqual([]);
  });
});

describe('the share of an error', () => {
  const responses = (good: number, name: string, bad: number): Counts => ({ 'status 200': good, [name]: bad });

  it.each([
    ['rises', responses(100, 'status 404 error', 2), responses(60, 'status 404 error', 40)],
    ['falls to nothing', responses(60, 'status 403 error', 40), responses(100, 'status 403 error', 0)],
    ['is new', responses(100, 'status 500 html', 0), responses(80, 'status 500 html', 20)],
  ])('is drift if it %s', (_name, before, after) => {
    expect(driftOf(before, after)).toMatchObject([{ keyword: 'error-share', location: 'status' }]);
  });

  it.each([
    ['in few responses', responses(5, 'status 404 error', 0), responses(1, 'status 404 error', 4)],
    ['that stays about the same', responses(90, 'status 404 error', 10), responses(85, 'status 404 error', 15)],
    ['that is an outage', responses(100, 'status 503 html', 0), responses(50, 'status 503 html', 50)],
    ['that is tiny', responses(100_000, 'status 404 error', 10), responses(99_000, 'status 404 error', 1_000)],
  ])('is not drift: %s', (_name, before, after) => {
    expect(driftOf(before, after)).toEqual([]);
  });
});

describe('the comparison of releases', () => {
  const before = { 'object ': 40, 'field /x': 40, 'status 200': 40 };
  const after = { 'object ': 40, 'status 200': 40 };

  it('is made with the last earlier release that had enough responses, for each operation', () => {
    const statistics = [
      of('1.0', before),
      of('1.1', { 'status 200': 1, 'object ': 1 }),
      of('1.2', after),
      of('1.2', before, 'listQuestions'),
    ];
    const { entries } = withLatestDrift(snapshotWith([], { statistics }));
    expect(entries).toMatchObject([
      { operation: 'listIdeas', message: expect.stringContaining('release 1.0') as string },
    ]);
    expect(withLatestDrift(snapshotWith([], { statistics }), '1.1').entries).toEqual([]);
  });

  it('ignores responses of releases without a label', () => {
    const statistics = [of('unlabelled', before), of('1.1', after)];
    expect(withLatestDrift(snapshotWith([], { statistics })).entries).toEqual([]);
  });

  it('finds a different fingerprint in each release and for each field, so that an acceptance covers one only', () => {
    const two = { ...before, 'field /y': 40 };
    const first = driftOf(two, after).map(({ fingerprint }) => fingerprint);
    const statistics = [of('1.1', two), of('1.2', after)];
    const next = withLatestDrift(snapshotWith([], { statistics })).entries.map(({ fingerprint }) => fingerprint);
    expect(new Set([...first, ...next]).size).toBe(4);
    expect(first.every((one) => /^[a-f][0-9a-f]{15}$/.test(one))).toBe(true);
  });

  it('replaces the drift in a report that was written earlier', () => {
    const old = entryWith({ category: 'release-drift' });
    const snapshot = snapshotWith([old, entryWith({ fingerprint: 'b' })], { statistics: [of('1.1', after)] });
    expect(withoutDrift(snapshot).entries.map(({ fingerprint }) => fingerprint)).toEqual(['b']);
    expect(withDriftFrom(snapshot, [of('1.0', before)]).entries).toMatchObject([{ at: '/x' }, { fingerprint: 'b' }]);
  });
});

import { describe, expect, it } from 'vitest';
import { ladderRows } from '../../../src/features/levels/ladder-rows.ts';
import type { LadderEntry } from '../../../src/features/levels/level-entry.ts';
import { type CheckLevel, OPERATION_CHECKS } from '../../../src/engine/model/checks.ts';
import type { LedgerEntry, CheckCounts, LedgerSnapshot } from '../../../src/engine/model/ledger-entry.ts';
import { entryWith } from '../../workbench/report/report-fixtures.ts';
import { levelsOf, NOW, snapshotOf, decisionWith } from './entries.ts';

describe('the rows of the ladder', () => {
  const MINUTE = 60_000;
  const nothing = () => false;
  const state = (...decisions: LadderEntry[]): readonly LadderEntry[] => decisions;

  function responsesRow(counts: Partial<CheckCounts>, kept = state(), levels = levelsOf('listIdeas')) {
    const rows = ladderRows([levels], snapshotOf(['listIdeas', 'responses', counts]), kept, 1000, nothing);
    return rows.find((row) => row.check === 'responses');
  }

  it('exist for each check of each operation, except undocumented, which has no operation', () => {
    const rows = ladderRows([levelsOf('listIdeas'), levelsOf('listUsers')], snapshotOf(), state(), 1000, nothing);
    expect(rows.map(({ operation, check }) => `${operation} ${check}`)).toEqual(
      ['listIdeas', 'listUsers'].flatMap((id) => [...OPERATION_CHECKS, 'errors'].map((check) => `${id} ${check}`)),
    );
  });

  it.each([
    [{ passed: 12_431 }, 'ready', 'ready: 12,431 checked, 0 would have been refused in 7 d'],
    [{ passed: 897, reported: 3 }, 'not yet', 'not yet: 3 of 900 would have been refused in 7 d'],
    [{ passed: 12_431, refused: 5 }, 'not yet', 'not yet: 5 of 12,436 were or would have been refused in 7 d'],
    [{ passed: 999 }, 'not yet', 'not yet: 999 of 1,000 checked in 7 d'],
    [{ passed: 1000 }, 'ready', 'ready: 1,000 checked, 0 would have been refused in 7 d'],
  ])('show %o as %s', (counts, kind, text) => {
    expect(responsesRow(counts)).toMatchObject({ configured: 'report', effective: 'report', next: { kind, text } });
  });

  it.each([
    ['1 min', 5_000],
    ['119 min', 119 * MINUTE],
    ['2 h', 120 * MINUTE],
    ['48 h', 2879 * MINUTE],
    ['2 d', 2880 * MINUTE],
  ])('show the period in the largest unit that it contains at least twice: %s', (words, ms) => {
    const snapshot = { ...snapshotOf(['listIdeas', 'responses', { passed: 1 }]), since: NOW - ms };
    const rows = ladderRows([levelsOf('listIdeas')], snapshot, state(), 1000, nothing);
    expect(rows.find((row) => row.check === 'responses')?.next.text).toBe(`not yet: 1 of 1,000 checked in ${words}`);
  });

  describe('for errors', () => {
    const change = (parts: Partial<LedgerEntry>) =>
      entryWith({ operation: 'listIdeas', check: 'errors', category: 'advisory', ...parts });
    const redirect = change({ fingerprint: 'r', status: 302, keyword: 'upstream_redirect', count: 4 });
    const permission = change({ fingerprint: 'p', status: 401, keyword: 'upstream_permission_denied', count: 5 });
    const inside = change({ fingerprint: 'i', status: 200, keyword: 'upstream_error_in_success', count: 1 });
    const errorsRow = (
      translation: CheckLevel,
      counts: Partial<CheckCounts>,
      entries: readonly LedgerEntry[],
      accepted: readonly string[] = [],
    ) =>
      ladderRows(
        [levelsOf('listIdeas', { translation })],
        { ...snapshotOf(['listIdeas', 'errors', counts]), entries },
        state(),
        100,
        ({ fingerprint }) => accepted.includes(fingerprint),
      ).find(({ check }) => check === 'errors');

    it('foretell how many responses would change status, from what to what, and the setting that keeps them', () => {
      expect(errorsRow('report', { passed: 990, reported: 10 }, [inside, permission, redirect])).toMatchObject({
        counts: { passed: 990, reported: 10, refused: 0 },
        changes: [
          { from: 401, to: 403, count: 5 },
          { from: 302, to: 502, count: 4 },
          { from: 200, to: 502, count: 1 },
        ],
        next: {
          kind: 'not yet',
          text: 'not yet: 10 of 1,000 would change status in 7 d (401 to 403: 5, 302 to 502: 4, 200 to 502: 1; operations.listIdeas.errors: legacy keeps them)',
        },
      });
    });

    it('are ready only without any change, are enforced when normalized, and off when kept on purpose', () => {
      expect(errorsRow('report', { passed: 99 }, [])?.next.text).toBe('not yet: 99 of 100 checked in 7 d');
      expect(errorsRow('report', { passed: 100 }, [])?.next.text).toBe(
        'ready: 100 checked, 0 would change status in 7 d',
      );
      expect(errorsRow('enforce', { passed: 96, refused: 4 }, [redirect])?.next.text).toBe(
        'enforced: 4 of 100 changed status in 7 d (302 to 502: 4; operations.listIdeas.errors: legacy keeps them)',
      );
      expect(errorsRow('off', {}, [])?.next.kind).toBe('off');
    });

    it('do not count changes that are accepted, themselves or by the violations that cause them', () => {
      const status = entryWith({ operation: 'listIdeas', fingerprint: 's', status: 302, keyword: 'status' });
      const error = entryWith({ operation: 'listIdeas', fingerprint: 'e', status: 200, keyword: 'error-in-success' });
      const other = entryWith({ operation: 'listIdeas', fingerprint: 'o', status: 200, keyword: 'type' });
      const entries = [inside, permission, redirect, status, error, other];
      const counts = { passed: 990, reported: 10 };
      expect(errorsRow('report', counts, entries, ['p'])?.counts).toMatchObject({ passed: 995, reported: 5 });
      expect(errorsRow('report', counts, entries, ['p', 's', 'e'])).toMatchObject({
        counts: { passed: 1000, reported: 0 },
        changes: [],
        next: { kind: 'ready' },
      });
    });
  });

  it('count responses as passed if the baseline has accepted all their violations since then', () => {
    const snapshot = (...parts: Partial<LedgerEntry>[]) => ({
      ...snapshotOf(['listIdeas', 'responses', { passed: 990, reported: 8, refused: 2 }]),
      entries: parts.map((one) => entryWith({ operation: 'listIdeas', ...one })),
    });
    const responses = (found: LedgerSnapshot) =>
      ladderRows([levelsOf('listIdeas')], found, state(), 1000, ({ fingerprint }) => fingerprint === 'known').find(
        ({ check }) => check === 'responses',
      );
    const known = { fingerprint: 'known', count: 10 };
    expect(responses(snapshot(known))).toMatchObject({
      counts: { passed: 1000, reported: 0 },
      next: { kind: 'ready' },
    });
    expect(responses(snapshot(known, { fingerprint: 'other', count: 3 }))).toMatchObject({
      counts: { passed: 997, reported: 1, refused: 2 },
      next: { kind: 'not yet' },
    });
    // Violations of the shadow contract do not affect the counts of checked responses.
    expect(responses(snapshot(known, { fingerprint: 'other', count: 3, candidate: 'newly-refused' }))).toMatchObject({
      counts: { passed: 1000, reported: 0 },
    });
    // How another server responds does not affect them either.
    expect(responses(snapshot(known, { fingerprint: 'other', count: 3, category: 'difference' }))).toMatchObject({
      counts: { passed: 1000, reported: 0 },
    });
    // After the ledger has dropped violations, it is impossible to tell which responses contain only accepted
    // violations.
    expect(responses({ ...snapshot(known), dropped: 1 })).toMatchObject({ counts: { passed: 990 } });
    // Unlike a response, a request with accepted violations does not count as passed.
    const requests = {
      ...snapshotOf(['listIdeas', 'requests', { reported: 8 }]),
      entries: [entryWith({ ...known, operation: 'listIdeas', check: 'requests' })],
    };
    const rows = ladderRows([levelsOf('listIdeas')], requests, state(), 1000, () => true);
    expect(rows.find(({ check }) => check === 'requests')).toMatchObject({ counts: { reported: 8 } });
  });

  it('show the refusals of an enforced check', () => {
    const { effective } = levelsOf('listIdeas');
    const levels = levelsOf('listIdeas', { effective: { ...effective, responses: 'enforce' } });
    expect(responsesRow({ passed: 9, refused: 1 }, state(), levels)).toMatchObject({
      effective: 'enforce',
      next: { kind: 'enforced', text: 'enforced: 1 of 10 refused in 7 d' },
    });
    expect(responsesRow({ passed: 9, reported: 3, refused: 1 }, state(), levels)).toMatchObject({
      next: { kind: 'enforced', text: 'enforced: 1 of 13 refused, 3 only reported, in 7 d' },
    });
  });

  it('recommend report for a check that is off', () => {
    const { effective } = levelsOf('listIdeas');
    const levels = levelsOf('listIdeas', { effective: { ...effective, responses: 'off' } });
    expect(responsesRow({}, state(), levels)?.next.kind).toBe('off');
  });

  it('never show a demoted check as ready', () => {
    const step = decisionWith();
    expect(responsesRow({ passed: 5000 }, state(step))).toMatchObject({ step, next: { kind: 'demoted' } });
  });

  it('show all failures of a demoted check, before and after the demotion', () => {
    const text = 'demoted: correct the contract, or lift the demotion; 50 of 100 failed in 7 d';
    expect(responsesRow({ passed: 50, reported: 2, refused: 48 }, state(decisionWith()))?.next.text).toBe(text);
  });
});

import { describe, expect, it } from 'vitest';
import type { CheckLevel } from '../../../src/engine/model/checks.ts';
import { MODES } from '../../../src/engine/model/modes.ts';
import { decideInForce, ladderChecks } from '../../../src/features/levels/in-force.ts';
import type { LadderEntry, OverrideEntry } from '../../../src/features/levels/level-entry.ts';
import { decisionWith, NOW, overrideWith } from './entries.ts';

const { checks } = MODES.strict;
const STORED = { isStored: true, transparent: false };
const lowered = overrideWith({ kind: 'level', check: 'requests', level: 'off' });
const stale = overrideWith({ kind: 'force-stale', maxStaleSeconds: 60 });
const disabled = overrideWith({ reason: 'INC-18' });

function inForce(
  overrides: readonly OverrideEntry[],
  { facts = STORED, decisions = [] as readonly LadderEntry[], configured = { checks, explicit: [] } } = {},
) {
  return decideInForce({ operation: 'listIdeas', configured, facts, decisions, overrides });
}

describe('what is in force for an operation', () => {
  it('is what its overrides say, with words about them', () => {
    expect(inForce([lowered, stale, disabled])).toEqual({
      checks: { ...checks, requests: 'off' },
      changes: [
        'requests off instead of enforce until 2026-05-11T13:00:00Z (INC-17)',
        'stored responses up to 60 s stale until 2026-05-11T13:00:00Z (INC-17)',
        'disabled until 2026-05-11T13:00:00Z (INC-18)',
      ].map((words) => ({ decidedBy: 'override', words, toSee: 'portico override list' })),
      disabled: { until: disabled.until, toEnd: 'portico override end listIdeas disable' },
      forceStale: stale,
    });
    expect(checks.requests).toBe('enforce');
  });

  it('is the configuration if there are no entries or none has an effect', () => {
    expect(inForce([])).toBeUndefined();
    expect(inForce([stale], { facts: { isStored: false, transparent: false } })).toBeUndefined();
    const raised = overrideWith({ kind: 'level', check: 'requests', level: 'enforce' });
    // The mode may have changed since the overrides were set.
    expect(inForce([raised, stale, disabled], { facts: { isStored: true, transparent: true } })).toBeUndefined();
    // `strict` mode does not enforce responses, so a demotion changes nothing.
    expect(inForce([], { decisions: [decisionWith()] })).toBeUndefined();
  });

  it('can still be lowered in observe mode', () => {
    const result = inForce([lowered, disabled], { facts: { isStored: false, transparent: true } });
    expect(result?.checks.requests).toBe('off');
    expect(result?.disabled).toBeUndefined();
  });

  it('is decided by an operator before the ladder, and by the ladder before the configuration', () => {
    const configured = { checks: { ...checks, responses: 'enforce' as const }, explicit: [] };
    const decisions = [decisionWith()];
    const byLadder = inForce([], { configured, decisions });
    expect(byLadder?.checks.responses).toBe('report');
    expect(byLadder?.changes).toEqual([
      {
        decidedBy: 'ladder',
        words: 'responses report instead of enforce: demoted 2026-05-11T11:59Z, 20 of 40 responses failed in 60 s',
        toSee: 'portico ladder',
      },
    ]);
    const override = overrideWith({ kind: 'level', check: 'responses', level: 'off' });
    const byOperator = inForce([override], { configured, decisions });
    expect(byOperator?.checks.responses).toBe('off');
    expect(byOperator?.changes.map(({ decidedBy, words }) => [decidedBy, words])).toEqual([
      ['ladder', byLadder?.changes[0]?.words],
      ['override', 'responses off instead of report until 2026-05-11T13:00:00Z (INC-17)'],
    ]);
    expect(override.until).toBe(NOW + 3_600_000);
  });
});

describe('the levels with decisions of the ladder', () => {
  const configured = (responses: CheckLevel, explicit: readonly 'responses'[] = []) => ({
    checks: { ...MODES.strict.checks, responses },
    explicit,
  });

  it('are the configured ones without decisions', () => {
    expect(ladderChecks(configured('enforce'), [], true)).toEqual(configured('enforce').checks);
  });

  it('are lowered from enforce to report by a demotion, even if enforce is configured for the operation itself', () => {
    expect(ladderChecks(configured('enforce', ['responses']), [decisionWith()], true).responses).toBe('report');
    expect(ladderChecks(configured('off'), [decisionWith()], true).responses).toBe('off');
  });

  it('are raised from report to enforce by a promotion', () => {
    const decisions = [decisionWith({ move: 'promoted' })];
    expect(ladderChecks(configured('report'), decisions, true).responses).toBe('enforce');
    expect(ladderChecks(configured('off'), decisions, true).responses).toBe('off');
  });

  it('are not raised in a transparent mode, nor if a level is configured for the operation itself', () => {
    const decisions = [decisionWith({ move: 'promoted' })];
    expect(ladderChecks(configured('report'), decisions, false).responses).toBe('report');
    expect(ladderChecks(configured('report', ['responses']), decisions, true).responses).toBe('report');
  });

  it('are the configured ones after an undone promotion', () => {
    expect(ladderChecks(configured('report'), [decisionWith({ move: 'lifted' })], true).responses).toBe('report');
  });
});

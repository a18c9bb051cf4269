import { describe, expect, it } from 'vitest';
import { effectiveChecks } from '../../src/ladder/moved-levels.ts';
import { type CheckLevel, MODES } from '../../src/model/checks.ts';
import { stepWith } from './levels.ts';

const configured = (responses: CheckLevel, explicit: readonly 'responses'[] = []) => ({
  operation: 'listIdeas',
  checks: { ...MODES.strict.checks, responses },
  explicit,
});

describe('the levels that hold', () => {
  it('are the configured ones while nothing moved', () => {
    expect(effectiveChecks(configured('enforce'), [stepWith({ operation: 'listUsers' })], true)).toEqual(
      configured('enforce').checks,
    );
  });

  it('fall from enforce to report by a demotion, also where enforce is written down for the operation', () => {
    expect(effectiveChecks(configured('enforce', ['responses']), [stepWith()], true).responses).toBe('report');
    expect(effectiveChecks(configured('off'), [stepWith()], true).responses).toBe('off');
  });

  it('rise from report to enforce by a promotion', () => {
    const steps = [stepWith({ move: 'promoted' })];
    expect(effectiveChecks(configured('report'), steps, true).responses).toBe('enforce');
    expect(effectiveChecks(configured('off'), steps, true).responses).toBe('off');
  });

  it('do not rise in a mode that changes nothing, nor over a level that is written down for the operation', () => {
    const steps = [stepWith({ move: 'promoted' })];
    expect(effectiveChecks(configured('report'), steps, false).responses).toBe('report');
    expect(effectiveChecks(configured('report', ['responses']), steps, true).responses).toBe('report');
  });

  it('stay where a promotion was lifted', () => {
    expect(effectiveChecks(configured('report'), [stepWith({ move: 'lifted' })], true).responses).toBe('report');
  });
});

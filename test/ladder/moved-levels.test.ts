import { describe, expect, it } from 'vitest';
import { effectiveChecks } from '../../src/ladder/moved-levels.ts';
import { type CheckLevel, MODES } from '../../src/model/checks.ts';
import { stepWith } from './levels.ts';

const configured = (responses: CheckLevel, explicit: readonly 'responses'[] = []) => ({
  operation: 'listIdeas',
  checks: { ...MODES.strict.checks, responses },
  explicit,
});

describe('the effective levels', () => {
  it('are the configured ones without steps', () => {
    expect(effectiveChecks(configured('enforce'), [stepWith({ operation: 'listUsers' })], true)).toEqual(
      configured('enforce').checks,
    );
  });

  it('are lowered from enforce to report by a demotion, even if enforce is configured for the operation itself', () => {
    expect(effectiveChecks(configured('enforce', ['responses']), [stepWith()], true).responses).toBe('report');
    expect(effectiveChecks(configured('off'), [stepWith()], true).responses).toBe('off');
  });

  it('are raised from report to enforce by a promotion', () => {
    const steps = [stepWith({ move: 'promoted' })];
    expect(effectiveChecks(configured('report'), steps, true).responses).toBe('enforce');
    expect(effectiveChecks(configured('off'), steps, true).responses).toBe('off');
  });

  it('are not raised in a transparent mode, nor if a level is configured for the operation itself', () => {
    const steps = [stepWith({ move: 'promoted' })];
    expect(effectiveChecks(configured('report'), steps, false).responses).toBe('report');
    expect(effectiveChecks(configured('report', ['responses']), steps, true).responses).toBe('report');
  });

  it('are the configured ones after an undone promotion', () => {
    expect(effectiveChecks(configured('report'), [stepWith({ move: 'lifted' })], true).responses).toBe('report');
  });
});

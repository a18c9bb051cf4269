import { describe, expect, it } from 'vitest';
import { MODES } from '../../../../src/engine/model/modes.ts';
import { applyOverrides } from '../../../../src/features/levels/overrides/override-effect.ts';
import { overrideWith } from './override-with.ts';

const { checks } = MODES.strict;
const STORED = { isStored: true, transparent: false };
const lowered = overrideWith({ kind: 'level', check: 'requests', level: 'off' });
const stale = overrideWith({ kind: 'force-stale', maxStaleSeconds: 60 });
const disabled = overrideWith({ reason: 'INC-18' });

describe('the overrides of an operation', () => {
  it('change its levels and describe themselves', () => {
    expect(applyOverrides([lowered, stale, disabled], checks, STORED)).toEqual({
      checks: { ...checks, requests: 'off' },
      overridden: {
        words: [
          'requests off instead of enforce until 2026-05-04T11:00:00Z (INC-17)',
          'stored responses up to 60 s stale until 2026-05-04T11:00:00Z (INC-17)',
          'disabled until 2026-05-04T11:00:00Z (INC-18)',
        ],
        disabledUntil: disabled.until,
        forceStale: stale,
      },
    });
    expect(checks.requests).toBe('enforce');
  });

  it('leave no trace if there are none or none has an effect', () => {
    expect(applyOverrides([], checks, STORED)).toBeUndefined();
    expect(applyOverrides([stale], checks, { isStored: false, transparent: false })).toBeUndefined();
    const raised = overrideWith({ kind: 'level', check: 'requests', level: 'enforce' });
    // The mode may have changed since the overrides were set.
    expect(applyOverrides([raised, stale, disabled], checks, { isStored: true, transparent: true })).toBeUndefined();
  });

  it('can still lower a level in observe mode', () => {
    const result = applyOverrides([lowered, disabled], checks, { isStored: false, transparent: true });
    expect(result?.checks.requests).toBe('off');
    expect(result?.overridden.disabledUntil).toBeUndefined();
  });
});

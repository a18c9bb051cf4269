import { describe, expect, it } from 'vitest';
import { OVERRIDE_LIMITS, readOverride } from '../../../src/features/levels/read-override.ts';
import { NOW } from './entries.ts';

const facts = new Map([
  ['listIdeas', { isStored: true, transparent: false }],
  ['uploadGdprFile', { isStored: false, transparent: false }],
  ['observed', { isStored: false, transparent: true }],
]);
const rules = { operations: [...facts.keys()], factsOf: (operation: string) => facts.get(operation), maxHours: 168 };
const VALID = { operation: 'listIdeas', kind: 'disable', reason: 'INC-17', forMinutes: 60 };
const read = (more: object) => readOverride({ ...VALID, ...more }, rules, NOW);
const at = (ms: number) => new Date(NOW + ms).toISOString();
const LEVEL = { kind: 'level', check: 'responses', level: 'report' };
const WEEK = 168 * 3_600_000;

describe('a request for an override', () => {
  it('is read with its change and its end', () => {
    expect(read({})).toEqual({
      kind: 'disable',
      operation: 'listIdeas',
      reason: 'INC-17',
      by: undefined,
      until: NOW + 3_600_000,
    });
    expect(read({ ...LEVEL, by: ' alice ', reason: ' INC-17 ' })).toMatchObject({
      ...LEVEL,
      by: 'alice',
      reason: 'INC-17',
    });
    expect(read({ kind: 'force-stale' })).toMatchObject({ kind: 'force-stale', maxStaleSeconds: 86_400 });
    expect(read({ kind: 'force-stale', maxStaleSeconds: 1 })).toMatchObject({ maxStaleSeconds: 1 });
    expect(read({ forMinutes: undefined, until: at(1) })).toMatchObject({ until: NOW + 1 });
    expect(read({ forMinutes: undefined, until: at(WEEK) })).toMatchObject({ until: NOW + WEEK });
    expect(read({ forMinutes: undefined, until: '2026-05-11T15:00+02:00' })).toMatchObject({ until: NOW + 3_600_000 });
    expect(read({ by: '' })).toMatchObject({ by: undefined });
  });

  it('is refused with all errors at once', () => {
    const faults = readOverride(
      { operaton: 'x', kind: 'level', check: 'requests', level: 'on', by: 'a\nb' },
      rules,
      NOW,
    );
    expect(faults).toEqual([
      { field: 'operaton', message: 'operaton is not known. Did you mean operation?' },
      { field: 'operation', message: 'Name an operation.' },
      { field: 'level', message: 'The level must be one of off, report, enforce.' },
      { field: 'reason', message: 'Give the reason in one line of at most 500 characters.' },
      { field: 'by', message: 'The name must be one line of at most 100 characters.' },
      { field: 'until', message: 'Give the end either as until (an instant) or as forMinutes.' },
    ]);
  });

  it.each([
    ['an unknown operation', { operation: 'listIdea' }, 'operation', 'Did you mean listIdeas?'],
    ['an inherited name', { operation: 'constructor' }, 'operation', 'no operation of this name'],
    ['an unknown kind', { kind: 'off' }, 'kind', 'one of level, force-stale, disable'],
    // These checks determine who may see data.
    ['permissions', { ...LEVEL, check: 'permissions', level: 'off' }, 'check', 'permissions decides who may see data'],
    ['authentication', { ...LEVEL, check: 'authentication' }, 'check', 'authentication decides who may see data'],
    ['undocumented', { ...LEVEL, check: 'undocumented' }, 'check', 'does not belong to an operation'],
    ['an unknown check', { ...LEVEL, check: 'all' }, 'check', 'one of requests, responses, pageBounds.'],
    ['a member of another kind', { level: 'off' }, 'level', 'level does not belong to the kind disable'],
    ['another member', { ...LEVEL, maxStaleSeconds: 1 }, 'maxStaleSeconds', 'does not belong to the kind level'],
    ['a bound that is a fraction', { kind: 'force-stale', maxStaleSeconds: 1.5 }, 'maxStaleSeconds', 'a whole number'],
    ['a bound of 0', { kind: 'force-stale', maxStaleSeconds: 0 }, 'maxStaleSeconds', 'from 1 to 604800'],
    ['a bound past the limit', { kind: 'force-stale', maxStaleSeconds: 604_801 }, 'maxStaleSeconds', 'from 1 to'],
    ['a bound as text', { kind: 'force-stale', maxStaleSeconds: '60' }, 'maxStaleSeconds', 'a whole number'],
    ['an empty reason', { reason: ' ' }, 'reason', 'in one line'],
    ['a reason that is too long', { reason: 'x'.repeat(OVERRIDE_LIMITS.reason + 1) }, 'reason', 'at most 500'],
    // A line break could forge a line in the log, and an escape sequence could change what a terminal shows.
    ['a reason with a line break', { reason: 'x\n{"level":"info"}' }, 'reason', 'in one line'],
    ['a reason with an escape sequence', { reason: 'x\u001b[2J' }, 'reason', 'in one line'],
    ['a reason with a bidirectional override', { reason: 'x\u202ey' }, 'reason', 'in one line'],
    ['a reason with a line separator', { reason: 'x\u2028y' }, 'reason', 'in one line'],
    // The reason appears in the log and the audit trail.
    ['a reason with a credential', { reason: 'password=hunter2secret' }, 'reason', 'must not contain a credential'],
    ['a reason that is not text', { reason: ['x'] }, 'reason', 'in one line'],
    ['a name that is too long', { by: 'x'.repeat(101) }, 'by', 'at most 100'],
    ['a name that is not text', { by: 1 }, 'by', 'one line'],
    ['no end', { forMinutes: undefined }, 'until', 'either as until'],
    ['two ends', { until: at(1000) }, 'until', 'either as until'],
    ['an end in the past', { forMinutes: undefined, until: at(-1) }, 'until', 'in the future'],
    ['an end that is now', { forMinutes: undefined, until: at(0) }, 'until', 'in the future'],
    ['an end past the limit', { forMinutes: undefined, until: at(WEEK + 1) }, 'until', 'at most 168 hours'],
    ['an endless number', { forMinutes: 1e308 }, 'forMinutes', 'at most 168 hours'],
    ['no minutes', { forMinutes: 0 }, 'forMinutes', 'a number above 0'],
    ['minutes as text', { forMinutes: '60' }, 'forMinutes', 'a number above 0'],
    ['an instant without a zone', { forMinutes: undefined, until: '2026-05-04T11:00' }, 'until', 'must be an instant'],
    ['a number as the instant', { forMinutes: undefined, until: NOW + 1000 }, 'until', 'must be an instant'],
    ['an impossible instant', { forMinutes: undefined, until: '2026-13-04T11:00Z' }, 'until', 'must be an instant'],
    [
      'stored responses of an unstored operation',
      { operation: 'uploadGdprFile', kind: 'force-stale' },
      'kind',
      'not stored',
    ],
    ['a refusal in observe mode', { operation: 'observed' }, 'kind', 'observe mode never refuses'],
    [
      'enforcement in observe mode',
      { operation: 'observed', ...LEVEL, level: 'enforce' },
      'kind',
      'observe mode never refuses',
    ],
  ])('is refused with %s', (_name, more, field, message) => {
    expect(read(more)).toEqual([{ field, message: expect.stringContaining(message) as string }]);
  });

  it.each([[undefined], [null], [[]], ['x'], [1]])('is refused if it is not an object: %j', (body) => {
    expect(readOverride(body, rules, NOW)).toEqual([{ field: '', message: 'Send a JSON object.' }]);
  });

  it('is refused without repeating names that could be secrets', () => {
    expect(JSON.stringify(read({ 'a secret "value"': 1 }))).not.toContain('secret');
  });
});

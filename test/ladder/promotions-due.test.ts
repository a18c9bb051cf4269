import { describe, expect, it } from 'vitest';
import { LADDER_DEFAULTS } from '../../src/ladder/ladder-options.ts';
import { promotionsDue } from '../../src/ladder/promotions-due.ts';
import { levelsOf, NOW, snapshotOf, stepWith } from './levels.ts';

const OPTIONS = { ...LADDER_DEFAULTS.promote, enabled: true, checks: ['responses'] as const, minAnswers: 100 };
const WINDOW_MS = OPTIONS.windowHours * 3_600_000;
const state = (...steps: ReturnType<typeof stepWith>[]) => ({ contract: 'v', since: NOW - WINDOW_MS, steps });
const due = (
  counts: { passed?: number; reported?: number; refused?: number },
  more: { levels?: ReturnType<typeof levelsOf>; kept?: ReturnType<typeof state>; options?: typeof OPTIONS } = {},
) =>
  promotionsDue(
    [more.levels ?? levelsOf('listIdeas')],
    snapshotOf(['listIdeas', 'responses', counts]),
    more.kept ?? state(),
    more.options ?? OPTIONS,
  );

describe('promotions', () => {
  it('are due where enough was judged and nothing would have been refused', () => {
    expect(due({ passed: 100 })).toEqual([
      {
        operation: 'listIdeas',
        check: 'responses',
        move: 'promoted',
        at: NOW,
        judged: 100,
        failed: 0,
        windowSeconds: 604_800,
      },
    ]);
  });

  it('add the traffic of all releases up', () => {
    const snapshot = snapshotOf(['listIdeas', 'responses', { passed: 60 }], ['listIdeas', 'responses', { passed: 40 }]);
    expect(promotionsDue([levelsOf('listIdeas')], snapshot, state(), OPTIONS)).toHaveLength(1);
    expect(promotionsDue([levelsOf('listUsers')], snapshot, state(), OPTIONS)).toEqual([]);
  });

  it.each([
    ['too little was judged', due({ passed: 99 })],
    ['one would have been refused', due({ passed: 100_000, reported: 1 })],
    ['one was refused', due({ passed: 100_000, refused: 1 })],
    [
      'the check is enforced already',
      due(
        { passed: 100 },
        { levels: levelsOf('listIdeas', { effective: { ...levelsOf('x').effective, responses: 'enforce' } }) },
      ),
    ],
    [
      'the check is off',
      due(
        { passed: 100 },
        { levels: levelsOf('listIdeas', { effective: { ...levelsOf('x').effective, responses: 'off' } }) },
      ),
    ],
    [
      'the level is written down for the operation',
      due({ passed: 100 }, { levels: levelsOf('listIdeas', { explicit: ['responses'] }) }),
    ],
    ['the check was demoted under this contract', due({ passed: 100 }, { kept: state(stepWith()) })],
    ['an operator took its promotion back', due({ passed: 100 }, { kept: state(stepWith({ move: 'lifted' })) })],
    [
      'the contract changed within the window',
      due({ passed: 100 }, { kept: { ...state(), since: NOW - WINDOW_MS + 1 } }),
    ],
  ])('are not due where %s', (_why, steps) => {
    expect(steps).toEqual([]);
  });

  it('never touch authentication, whatever is asked for', () => {
    const levels = levelsOf('listIdeas', { effective: { ...levelsOf('x').effective, authentication: 'report' } });
    const snapshot = snapshotOf(['listIdeas', 'authentication', { passed: 1000 }]);
    expect(promotionsDue([levels], snapshot, state(), { ...OPTIONS, checks: ['authentication'] })).toEqual([]);
  });
});

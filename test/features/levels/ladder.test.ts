import { describe, expect, it } from 'vitest';
import { createLadder, type LadderParts, promotionsDue } from '../../../src/features/levels/ladder.ts';
import type { LadderEntry, LevelsState } from '../../../src/features/levels/level-entry.ts';
import { createLevelStore } from '../../../src/features/levels/level-store.ts';
import type { CheckLevel } from '../../../src/engine/model/checks.ts';
import { MODES } from '../../../src/engine/model/modes.ts';
import type { LedgerQuery } from '../../../src/engine/model/ledger-entry.ts';
import { createTrace, type ResponseTrace, type Trace } from '../../../src/engine/model/trace.ts';
import { defaultOptions, levelsOf, NOW, snapshotOf, decisionWith } from './entries.ts';

describe('the ladder', () => {
  const HOUR_MS = 3_600_000;
  const OPTIONS = {
    promote: { ...defaultOptions().promote, enabled: true, checks: ['responses' as const], minAnswers: 100 },
    demote: { enabled: true, share: 0.5, windowSeconds: 60, minAnswers: 4 },
  };

  function ladderWith(
    responses: CheckLevel,
    {
      entries = [],
      since = NOW - 200 * HOUR_MS,
      ...more
    }: Partial<LadderParts> & { entries?: LadderEntry[]; since?: number } = {},
  ) {
    const events: string[] = [];
    const written: LevelsState[] = [];
    const record = (word: string) => (entry: LadderEntry) =>
      void events.push(`${word} ${entry.operation} ${entry.check}`);
    const store = createLevelStore({
      stored: { contracts: [{ contract: 'v', since }], entries },
      contract: 'v',
      isShared: false,
      clock: more.clock ?? (() => NOW),
      write: (state) => void written.push(state),
    });
    const ladder = createLadder({
      store,
      options: OPTIONS,
      operations: [
        {
          operation: 'listIdeas',
          checks: { ...MODES.staging.checks, responses },
          translation: 'enforce',
          explicit: [],
        },
      ],
      transparent: false,
      events: {
        demoted: record('demoted'),
        promoted: record('promoted'),
        lifted: record('lifted'),
        alerted: () => undefined,
      },
      isAccepted: () => false,
      clock: () => NOW,
      ...more,
    });
    store.onChange((operation) => events.push(`changed ${operation}`));
    return { ladder, store, events, written };
  }

  function traceOf(outcome: ResponseTrace['outcome'], more: Partial<Trace> = {}): Trace {
    const trace = createTrace({ requestId: 'r', traceparent: '', method: 'GET', startedAt: NOW });
    const verdict = outcome === 'passed' ? 'valid' : 'violations';
    const responses = { level: 'enforce', outcome, verdict } as const;
    const upstream = { status: 200, shape: 'answer', seconds: 0, attempts: 1 };
    return Object.assign(trace, { operation: 'listIdeas', responses, upstream, ...more });
  }

  const level = ({ ladder }: ReturnType<typeof ladderWith>) => ladder.checksFor('listIdeas').responses;
  const reader = (passed: number, asked: LedgerQuery[] = []) => ({
    snapshot: (query: LedgerQuery = {}) => {
      asked.push(query);
      return Promise.resolve(snapshotOf(['listIdeas', 'responses', { passed }]));
    },
  });

  it('demotes once, reports and stores it, and ignores responses that were checked before', () => {
    const made = ladderWith('enforce');
    for (let index = 0; index < 40; index += 1) made.ladder.record(traceOf('refused'));
    expect(level(made)).toBe('report');
    expect(made.events).toEqual(['changed listIdeas', 'demoted listIdeas responses']);
    expect(made.written).toHaveLength(1);
    expect(made.store.state()).toBe(made.written[0]);
  });

  it.each<[string, Trace]>([
    [
      'has a response check at off or report',
      traceOf('reported', { responses: { level: 'report', outcome: 'reported', verdict: 'violations' } }),
    ],
    ['has a skipped check', traceOf('skipped')],
    ['has an error status', traceOf('refused', { upstream: { status: 404, shape: 'json', seconds: 0, attempts: 1 } })],
    [
      'has no response',
      traceOf('refused', { upstream: { status: undefined, shape: 'reset', seconds: 0, attempts: 1 } }),
    ],
    ['was served from the cache', traceOf('refused', { upstream: undefined })],
    ['has no operation', traceOf('refused', { operation: undefined })],
  ])('ignores a request that %s', (_what, trace) => {
    const made = ladderWith('enforce');
    for (let index = 0; index < 40; index += 1) made.ladder.record(trace);
    expect(made.events).toEqual([]);
  });

  it('counts responses to unverified names as those of a single caller', () => {
    const made = ladderWith('enforce');
    for (let index = 0; index < 4; index += 1)
      made.ladder.record(
        traceOf('passed', {
          caller: 'bob',
          authentication: { level: 'enforce', outcome: 'passed', principal: 'verified' },
        }),
      );
    for (let index = 0; index < 100; index += 1)
      made.ladder.record(
        traceOf('refused', {
          caller: `made up ${index}`,
          authentication: { level: 'report', outcome: 'reported', principal: 'unverified' },
        }),
      );
    expect(level(made)).toBe('enforce');
  });

  it('promotes checks whose results in the ledger justify it over the configured window', async () => {
    const made = ladderWith('report');
    const asked: LedgerQuery[] = [];
    await made.ladder.promote(reader(100, asked));
    await made.ladder.promote(reader(100, asked));
    expect(level(made)).toBe('enforce');
    expect(made.events).toEqual(['changed listIdeas', 'promoted listIdeas responses']);
    expect(asked[0]).toEqual({ since: NOW - OPTIONS.promote.windowHours * HOUR_MS });
  });

  it('can demote what it promoted, and does not promote it again', async () => {
    const made = ladderWith('report');
    await made.ladder.promote(reader(100));
    for (let index = 0; index < 4; index += 1) made.ladder.record(traceOf('refused'));
    expect(level(made)).toBe('report');
    await made.ladder.promote(reader(100_000));
    expect(level(made)).toBe('report');
    expect(made.store.decisions()).toHaveLength(1);
  });

  it('does not promote a check again after an undone promotion until the mark is removed too', async () => {
    const made = ladderWith('report');
    await made.ladder.promote(reader(100));
    expect(made.ladder.lift('listIdeas', 'responses')).toBeDefined();
    await made.ladder.promote(reader(100));
    expect(level(made)).toBe('report');
    expect(made.ladder.lift('listIdeas', 'responses')).toBeDefined();
    expect(made.ladder.lift('listIdeas', 'responses')).toBeUndefined();
    await made.ladder.promote(reader(100));
    expect(level(made)).toBe('enforce');
  });

  it('records when a promotion was undone, not when it was made', async () => {
    const time = { now: NOW };
    const { ladder, store } = ladderWith('report', { clock: () => time.now });
    await ladder.promote(reader(100));
    time.now += HOUR_MS;
    ladder.lift('listIdeas', 'responses');
    expect(store.decisions()).toMatchObject([{ move: 'lifted', since: NOW + HOUR_MS }]);
  });

  it.each<[string, Parameters<typeof ladderWith>[1]]>([
    ['promotion is off', { options: { ...OPTIONS, promote: { ...OPTIONS.promote, enabled: false } } }],
    ['the mode is transparent', { transparent: true }],
    ['the contract is younger than the window', { since: NOW - HOUR_MS }],
  ])('does not query the ledger if %s', async (_why, more) => {
    const made = ladderWith('report', more);
    const asked: LedgerQuery[] = [];
    await made.ladder.promote(reader(100_000, asked));
    expect(asked).toEqual([]);
    expect(level(made)).toBe('report');
  });

  it('adopts the steps of other gateways, reports the changed levels, and writes the steps to its own file', () => {
    const made = ladderWith('enforce');
    const next = { ...made.store.state(), entries: [decisionWith()] };
    made.store.adopt(next);
    expect([level(made), made.store.state(), made.events]).toEqual(['report', next, ['changed listIdeas']]);
    made.store.adopt(next);
    expect(made.events).toEqual(['changed listIdeas']);
    expect(made.written).toEqual([next, next]);
  });

  it('starts from its stored state', () => {
    const made = ladderWith('enforce', { since: NOW, entries: [decisionWith()] });
    expect(level(made)).toBe('report');
    expect(made.ladder.levels()).toMatchObject([
      { configured: { responses: 'enforce' }, effective: { responses: 'report' } },
    ]);
  });
});

describe('promotions', () => {
  const OPTIONS = { ...defaultOptions().promote, enabled: true, checks: ['responses' as const], minAnswers: 100 };
  const WINDOW_MS = OPTIONS.windowHours * 3_600_000;
  const state = (...decisions: LadderEntry[]) => ({
    contract: () => ({ contract: 'v', since: NOW - WINDOW_MS }),
    decisions: () => decisions,
  });
  const due = (
    counts: { passed?: number; reported?: number; refused?: number },
    more: { levels?: ReturnType<typeof levelsOf>; kept?: ReturnType<typeof state>; options?: typeof OPTIONS } = {},
  ) =>
    promotionsDue(
      [more.levels ?? levelsOf('listIdeas')],
      snapshotOf(['listIdeas', 'responses', counts]),
      more.kept ?? state(),
      more.options ?? OPTIONS,
      () => false,
    );

  it('are due if there are enough results and nothing would have been refused', () => {
    expect(due({ passed: 100 })).toEqual([
      {
        operation: 'listIdeas',
        check: 'responses',
        move: 'promoted',
        since: NOW,
        judged: 100,
        failed: 0,
        windowSeconds: 604_800,
      },
    ]);
  });

  it('add up the traffic of all releases', () => {
    const snapshot = snapshotOf(['listIdeas', 'responses', { passed: 60 }], ['listIdeas', 'responses', { passed: 40 }]);
    expect(promotionsDue([levelsOf('listIdeas')], snapshot, state(), OPTIONS, () => false)).toHaveLength(1);
    expect(promotionsDue([levelsOf('listUsers')], snapshot, state(), OPTIONS, () => false)).toEqual([]);
  });

  it.each([
    ['there are too few results', due({ passed: 99 })],
    ['one would have been refused', due({ passed: 100_000, reported: 1 })],
    ['one was refused', due({ passed: 100_000, refused: 1 })],
    [
      'the check is already enforced',
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
      'the level is configured for the operation',
      due({ passed: 100 }, { levels: levelsOf('listIdeas', { explicit: ['responses'] }) }),
    ],
    ['the check was demoted under this contract', due({ passed: 100 }, { kept: state(decisionWith()) })],
    ['an operator has undone its promotion', due({ passed: 100 }, { kept: state(decisionWith({ move: 'lifted' })) })],
    [
      'the contract changed within the window',
      due({ passed: 100 }, { kept: { ...state(), contract: () => ({ contract: 'v', since: NOW - WINDOW_MS + 1 }) } }),
    ],
  ])('are not due if %s', (_why, steps) => {
    expect(steps).toEqual([]);
  });

  it('never affect authentication, whatever is configured', () => {
    const levels = levelsOf('listIdeas', { effective: { ...levelsOf('x').effective, authentication: 'report' } });
    const snapshot = snapshotOf(['listIdeas', 'authentication', { passed: 1000 }]);
    expect(
      promotionsDue([levels], snapshot, state(), { ...OPTIONS, checks: ['authentication' as 'requests'] }, () => false),
    ).toEqual([]);
  });
});

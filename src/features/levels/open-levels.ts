import { isDeepStrictEqual } from 'node:util';
import type { Logger } from 'pino';
import { warnIfInMemory } from '../../engine/config/state-files.ts';
import type { FeatureContext } from '../../engine/feature.ts';
import type { ActionOrigin } from '../../engine/model/operator-action.ts';
import { overrideJson } from './former-files.ts';
import { createLadder, type Ladder, type LadderSetup } from './ladder.ts';
import { inOrder, isOfLadder, type LadderEntry, type LevelsState } from './level-entry.ts';
import { createLevelStore, type LevelStore } from './level-store.ts';
import { createLevelsFile } from './levels-file.ts';
import type { LevelsMetrics } from './levels-metrics.ts';
import type { LevelsOptions } from './options.ts';
import { actionOf } from './override-event.ts';
import { createOverrides, type OverrideEvent, type Overrides } from './overrides.ts';
import type { OverrideRules } from './read-override.ts';
import { openDocuments, type SharedLevels } from './shared-levels.ts';
import { POINTER, type StoredLevels } from './stored-levels.ts';
import type { RefusalAlert } from './traffic-watch.ts';

/** The store, and everything that changes it. It survives reloads. */
export interface OpenLevels {
  readonly store: LevelStore;
  readonly ladder: Ladder;
  readonly overrides: Overrides<ActionOrigin>;
  /** The documents that gateways share. */
  readonly documents: SharedLevels;
  /** Puts a configuration into use. */
  use(setup: LadderSetup, rules: OverrideRules): void;
  /** Checks that the levels can be stored, logs them, and starts the timers. Does nothing if it has been called. */
  open(): Promise<void>;
  /** Looks for decisions that another process has removed from the file. */
  followFile(): Promise<void>;
  /** Waits until all changes are stored. Returns false if storing the latest change failed. */
  written(): Promise<boolean>;
  /** Stops the timers, and waits until all changes are stored. */
  close(): Promise<void>;
}

/** The message logged at startup or after a reload if decisions no longer apply because the contract has changed. */
export const CONTRACT_CHANGED = 'the contract has changed: every check starts at its configured level';

// Promotions depend on several hours of traffic, so an evaluation every five minutes is sufficient.
const PROMOTION_MS = 300_000;
/**
 * The number of milliseconds by which a turn is longer than the interval between evaluations. This margin leaves time
 * to renew the turn.
 */
const TURN_MARGIN_MS = 60_000;
// The maximum time that a running gateway takes to notice `portico ladder --lift`, in milliseconds.
const RELOAD_MS = 10_000;

type Context = Pick<
  FeatureContext<LevelsOptions>,
  'options' | 'settings' | 'clock' | 'logger' | 'isAccepted' | 'records' | 'sharing' | 'acted' | 'levelsChanged'
>;

/** Creates the store and what changes it. Nothing is written until a level changes or `open` is called. */
export function createLevels(
  context: Context,
  stored: StoredLevels,
  setup: LadderSetup,
  metrics: Pick<LevelsMetrics, 'demoted' | 'promoted' | 'alerted'>,
): OpenLevels {
  const { options, settings, clock, logger, isAccepted, records, sharing, acted, levelsChanged } = context;
  let rules: OverrideRules = { operations: [], factsOf: () => undefined, maxHours: 0 };
  const file = createLevelsFile(options.file, stored.isInFile ? stored.state : undefined, {
    onError: (error) =>
      logger.error({ err: error }, 'the levels cannot be stored: a change applies only until the process ends'),
    // If a newer decision has replaced this one in the meantime, for example because a promotion was lifted in the
    // console, the newer one stays in effect.
    onRemoved(entry) {
      const { operation, check, move } = entry;
      if (ladder.lift(operation, check, entry) === undefined) return;
      const origin = { at: clock(), actor: 'process', way: 'file' } as const;
      const change = { subject: { operation, check }, before: { move } };
      void acted({ ...origin, action: 'lift', outcome: 'done', ...change });
    },
    current: () => store.state(),
  });
  const store: LevelStore = createLevelStore({
    stored: stored.state,
    contract: setup.contract,
    isShared: sharing.status() !== undefined,
    clock,
    write(state, recorded) {
      file.write(state, recorded);
      void documents.sync();
    },
  });
  const ladder = createLadder({ ...setup, store, isAccepted, events: eventsOf(logger, metrics), clock });
  store.onChange(levelsChanged);
  const overrides = createOverrides<ActionOrigin>({
    store,
    rules: () => rules,
    clock,
    record(event) {
      logEvent(logger, event);
      return acted(actionOf(event));
    },
  });
  const documents = openDocuments(store, sharing, {
    turnMs: PROMOTION_MS + TURN_MARGIN_MS,
    onAdopted: (before, after) => logAdopted(logger, before, after),
  });
  const written = async () => {
    const [isInFile, isShared] = await Promise.all([file.written(), documents.sync()]);
    return isInFile || isShared;
  };
  const evaluate = async () => {
    // In a fleet, only the gateway whose turn it is decides on promotions, using counts from the whole fleet.
    const turn = await documents.takeTurn();
    return turn && ladder.promote(records, (due) => turn.commit(withEntries(store.state(), due)));
  };
  const evaluateSafely = () =>
    evaluate().catch((error: unknown) => logger.warn({ err: error }, 'promotions could not be evaluated'));
  const stops: (() => void)[] = [];
  const openOnce = async () => {
    const at = { file: options.file, pointer: POINTER };
    const reason = await warnIfInMemory(settings, at, { logger, name: 'levels', what: 'the levels' });
    logStored(logger, stored, store, options.file);
    // Promotions depend on how long this contract has been in use, so the time of its first use is stored at startup.
    if (reason === undefined && !(stored.isInFile && isDeepStrictEqual(stored.state, store.state())))
      file.write(store.state());
    await documents.start();
    logLevels(logger, store, ladder, overrides);
    stops.push(overrides.watch());
    const timers = [
      setInterval(() => void file.checkForChanges(), RELOAD_MS),
      // The timer runs even when promotions are off, because a reload can turn them on.
      setInterval(() => void evaluateSafely(), PROMOTION_MS),
    ];
    for (const timer of timers) timer.unref();
    stops.push(() => timers.forEach(clearInterval));
  };
  let opening: Promise<void> | undefined;
  return {
    store,
    ladder,
    overrides,
    documents,
    use(next, nextRules) {
      const decisions = store.decisions().length;
      if (next.contract !== store.contract().contract && decisions > 0)
        logger.warn({ levels: { entries: decisions } }, CONTRACT_CHANGED);
      ladder.configure(next);
      rules = nextRules;
    },
    open: () => (opening ??= openOnce()),
    followFile: file.checkForChanges,
    written,
    async close() {
      for (const stop of stops) stop();
      await file.written();
    },
  };
}

function withEntries(state: LevelsState, added: readonly LadderEntry[]): LevelsState {
  return { ...state, entries: inOrder([...state.entries, ...added]) };
}

const fieldsOf = ({ operation, check, move }: LadderEntry) => ({ ladder: { operation, check, move } });

const missingIn = (entries: readonly LadderEntry[], all: readonly LadderEntry[]) =>
  all.filter((entry) => !entries.some((one) => isDeepStrictEqual(one, entry)));
const overridesIn = ({ entries }: LevelsState) =>
  entries.flatMap((one) => (isOfLadder(one) ? [] : [overrideJson(one)]));

/** Logs what other gateways have changed. */
function logAdopted(logger: Logger, before: LevelsState, after: LevelsState): void {
  const [known, next] = [before.entries.filter(isOfLadder), after.entries.filter(isOfLadder)];
  for (const entry of missingIn(known, next))
    logger.warn(fieldsOf(entry), 'another gateway has promoted or demoted a check');
  for (const entry of missingIn(next, known))
    logger.warn(fieldsOf(entry), 'a promotion or demotion was lifted or replaced on another gateway');
  if (!isDeepStrictEqual(overridesIn(before), overridesIn(after)))
    logger.warn({ overrides: overridesIn(after) }, 'another gateway has changed the overrides');
}

function logStored(logger: Logger, { state, former, ignored }: StoredLevels, store: LevelStore, file: string): void {
  if (former.length > 0)
    logger.warn(
      { levels: { file, former } },
      'the levels were read from the files of an earlier version, and are stored in levels.file from now on',
    );
  if (ignored.length > 0)
    logger.warn(
      { levels: { file, ignored } },
      'files of an earlier version were changed after levels.file and are ignored: remove them, or remove levels.file to use them',
    );
  const decisions = state.entries.filter(isOfLadder).length;
  const isNew = !state.contracts.some(({ contract }) => contract === store.contract().contract);
  if (isNew && decisions > 0) logger.warn({ levels: { entries: decisions } }, CONTRACT_CHANGED);
}

/** Logs the levels that differ from the configuration when the gateway starts. */
function logLevels(logger: Logger, store: LevelStore, ladder: Ladder, overrides: Overrides<ActionOrigin>): void {
  const levels = new Map(ladder.levels().map((one) => [one.operation, one]));
  for (const { operation, check, move, since } of store.decisions()) {
    const fields = { ladder: { operation, check, move, at: new Date(since).toISOString() } };
    const known = levels.get(operation);
    if (known !== undefined && known.effective[check] !== known.configured[check])
      logger.warn(fields, 'a promotion or demotion is in effect');
    else logger.info(fields, 'a promotion or demotion has no effect on the configured levels');
  }
  for (const override of overrides.active())
    logger.warn({ override: overrideJson(override) }, 'an override is in effect');
}

function eventsOf(logger: Logger, metrics: Pick<LevelsMetrics, 'demoted' | 'promoted' | 'alerted'>) {
  return {
    demoted({ operation, check, judged, failed, windowSeconds }: LadderEntry) {
      metrics.demoted(operation);
      logger.error(
        { ladder: { operation, check, judged, failed, windowSeconds } },
        'too many responses were refused: the check only reports until an operator lifts the demotion or the contract changes',
      );
    },
    promoted({ operation, check, judged, windowSeconds }: LadderEntry) {
      metrics.promoted(check);
      logger.warn(
        { ladder: { operation, check, judged, windowSeconds } },
        'no request would have been refused: the check is enforced from now on',
      );
    },
    lifted: (entry: LadderEntry) => logger.warn(fieldsOf(entry), 'an operator lifted a promotion or demotion'),
    alerted({ operation = 'undocumented', check, judged, failed, windowSeconds }: RefusalAlert) {
      metrics.alerted(check);
      logger.warn(
        { ladder: { operation, check, judged, failed, windowSeconds } },
        'a check refuses an unusual share of requests; it stays enforced',
      );
    },
  };
}

const WORDS: Readonly<Record<OverrideEvent['event'], string>> = {
  set: 'an operator set an override',
  changed: 'an operator changed an override',
  ended: 'an operator ended an override',
  expired: 'an override expired',
};

function logEvent(logger: Logger, { event, override, origin }: OverrideEvent): void {
  const endedBy = event === 'ended' && { endedBy: { by: origin?.by, from: origin?.from } };
  logger.warn({ override: { ...overrideJson(override), ...endedBy } }, WORDS[event]);
}

import { isDeepStrictEqual } from 'node:util';
import type { Logger } from 'pino';
import type { Settings } from '../../engine/config/settings.ts';
import type { Contract } from '../../engine/contract/load-contract.ts';
import { createLadder, type Ladder, type LadderEvents, type LadderSetup } from './ladder/create-ladder.ts';
import { type ConfiguredLevels, movedLevels } from './ladder/ladder-rows.ts';
import { createLadderFile, LADDER_DOCUMENT, type LadderFile, readLadderFile } from './ladder/ladder-file.ts';
import { type LadderState, type LadderStep, startingState } from './ladder/ladder-step.ts';
import type { IsAccepted } from '../../engine/model/acceptance.ts';
import type { Clock } from '../../lib/clock.ts';
import { CHECK_NAMES } from '../../engine/model/checks.ts';
import type { LedgerReader } from '../../engine/model/ledger-entry.ts';
import type { SharedDocument, Sharing } from '../../engine/sharing/sharing.ts';
import type { OperatorAction } from '../../engine/model/operator-action.ts';
import type { Metrics } from '../../engine/telemetry/metrics.ts';
import { readStateFile, whyNotStored } from '../../engine/config/state-files.ts';

/**
 * The message logged at startup or after a reload if the ladder's steps no longer apply because the contract has
 * changed.
 */
export const CONTRACT_CHANGED = 'the contract has changed: every check starts at its configured level';

/** A gateway's ladder, the file that stores it, and the document through which gateways share it. */
interface AssembledLadder {
  readonly ladder: Ladder;
  readonly file: LadderFile;
  /** The ladder state shared by all gateways. Undefined if no state is shared. */
  readonly document: SharedDocument<LadderState> | undefined;
}

/** Reads the stored state of the ladder. Throws a StartFault if the file is invalid. */
export function readStoredLadder(settings: Settings): LadderState | undefined {
  const words = { kind: 'ladder file', start: 'with the configured levels' };
  return readStateFile(settings, { file: settings.ladder.file, pointer: '/ladder/file' }, words, readLadderFile);
}

/** Creates the ladder for the configured levels. Nothing is written until a level changes. */
export function assembleLadder(
  settings: Settings,
  start: { readonly contract: Contract; readonly ladder: LadderState | undefined },
  parts: {
    readonly clock: Clock;
    readonly logger: Logger;
    readonly metrics: Metrics;
    readonly isAccepted: IsAccepted;
    readonly shared: Sharing | undefined;
    readonly acted: (action: OperatorAction) => unknown;
  },
): AssembledLadder {
  const { clock, logger, metrics, isAccepted, shared, acted } = parts;
  const file = createLadderFile(settings.ladder.file, start.ladder, {
    onError: (error) =>
      logger.error({ err: error }, 'the ladder file cannot be written: the ladder is stored in memory only'),
    // If a newer step has replaced this one in the meantime, for example because a promotion was lifted in the console,
    // the newer step stays in effect.
    onRemoved: (step) => {
      const { operation, check, move } = step;
      if (!ladder.lift(operation, check, step)) return;
      const origin = { at: clock(), actor: 'process', way: 'file' } as const;
      const change = { subject: { operation, check }, before: { move } };
      acted({ ...origin, action: 'lift', outcome: 'done', ...change });
    },
  });
  const ladder: Ladder = createLadder({
    ...ladderSetup(settings, start.contract, isAccepted),
    state: startingState(start.ladder, start.contract.version, clock()),
    file: {
      write(next) {
        file.write(next);
        void document?.sync();
      },
    },
    events: eventsOf(logger, metrics),
    clock,
  });
  const document = shared?.openDocument<LadderState>(LADDER_DOCUMENT.name, {
    current: () => ladder.state(),
    adopt(next) {
      logAdopted(logger, ladder.state(), next);
      ladder.adopt(next);
    },
    // During a deployment, gateways with different contracts use separate documents.
    versionOf: ({ contract }) => contract,
    empty: (state) => ({ ...state, steps: [] }),
    format: LADDER_DOCUMENT.format,
    parse: LADDER_DOCUMENT.parse,
    merge: LADDER_DOCUMENT.merge,
    turnMs: PROMOTION_MS + TURN_MARGIN_MS,
  });
  const demoted = () =>
    movedLevels(ladder.levels(), ladder.state()).flatMap(({ operation, step }) =>
      step.move === 'demoted' ? [operation] : [],
    );
  metrics.watch({ demoted });
  return { ladder, file, document };
}

const missingIn = (steps: readonly LadderStep[], all: readonly LadderStep[]) =>
  all.filter((step) => !steps.some((one) => isDeepStrictEqual(one, step)));
const fieldsOf = ({ operation, check, move }: LadderStep) => ({ ladder: { operation, check, move } });

/** Logs the ladder steps that another gateway has taken or lifted. */
function logAdopted(logger: Logger, before: LadderState, next: LadderState): void {
  for (const step of missingIn(before.steps, next.steps))
    logger.warn(fieldsOf(step), 'another gateway has promoted or demoted a check');
  for (const step of missingIn(next.steps, before.steps))
    logger.warn(fieldsOf(step), 'a ladder step was lifted or replaced on another gateway');
}

/** Returns the parts of the configuration that the ladder uses. */
export function ladderSetup(settings: Settings, contract: Contract, isAccepted: IsAccepted): LadderSetup {
  return {
    options: settings.ladder,
    operations: configuredLevels(settings, contract),
    transparent: settings.mode.transparent,
    contract: contract.version,
    isAccepted,
  };
}

/** Returns the configured checks of each operation. */
function configuredLevels(settings: Settings, { operations }: Contract): readonly ConfiguredLevels[] {
  return operations.map(({ id }) => {
    const own = settings.operations[id]?.checks ?? {};
    const explicit = CHECK_NAMES.filter((check) => own[check] !== undefined);
    return { operation: id, checks: settings.checksFor(id), translation: settings.translationFor(id), explicit };
  });
}

function eventsOf(logger: Logger, metrics: Metrics): LadderEvents {
  return {
    demoted: ({ operation, check, judged, failed, windowSeconds }) => {
      metrics.ladder.demoted(operation);
      logger.error(
        { ladder: { operation, check, judged, failed, windowSeconds } },
        'too many responses were refused: the check only reports until an operator lifts the demotion or the contract changes',
      );
    },
    promoted: ({ operation, check, judged, windowSeconds }) => {
      metrics.ladder.promoted(check);
      logger.warn(
        { ladder: { operation, check, judged, windowSeconds } },
        'no request would have been refused: the check is enforced from now on',
      );
    },
    lifted: ({ operation, check, move }) => {
      logger.warn({ ladder: { operation, check, move } }, 'an operator lifted a ladder step');
    },
    alerted: ({ operation = 'undocumented', check, judged, failed, windowSeconds }) => {
      metrics.ladder.alerted(check);
      logger.warn(
        { ladder: { operation, check, judged, failed, windowSeconds } },
        'a check refuses an unusual share of requests; it stays enforced',
      );
    },
  };
}

interface OpeningLadder {
  readonly ladder: Ladder;
  readonly ladderFile: LadderFile;
  readonly ladderDocument: SharedDocument<LadderState> | undefined;
  readonly records: LedgerReader;
  readonly logger: Logger;
}

// Promotions depend on several hours of traffic, so an evaluation every five minutes is sufficient.
const PROMOTION_MS = 300_000;
/**
 * The number of milliseconds by which a turn is longer than the interval between evaluations. This margin leaves time
 * to renew the turn.
 */
const TURN_MARGIN_MS = 60_000;
// The maximum time that a running gateway takes to notice `portico ladder --lift`, in milliseconds.
const RELOAD_MS = 10_000;

/**
 * Checks that the ladder can be stored, logs its steps and starts evaluating promotions at intervals. Returns a
 * function that stops the evaluation. A configured file that cannot be written is a configuration error; for the
 * default file, only a warning is logged.
 */
export async function openLadder(
  settings: Settings,
  { ladder, ladderFile, ladderDocument, records, logger }: OpeningLadder,
  stored: LadderState | undefined,
): Promise<() => void> {
  const reason = await whyNotStored(settings, { file: settings.ladder.file, pointer: '/ladder/file' });
  if (reason !== undefined)
    logger.warn({ ladder: { file: settings.ladder.file, reason } }, 'the ladder is stored in memory only');
  const state = ladder.state();
  if (stored !== undefined && stored.contract !== state.contract && stored.steps.length > 0)
    logger.warn({ ladder: { steps: stored.steps.length } }, CONTRACT_CHANGED);
  const moving = new Set(movedLevels(ladder.levels(), state).map(({ step }) => step));
  for (const step of state.steps) {
    const { operation, check, move, at } = step;
    const fields = { ladder: { operation, check, move, at: new Date(at).toISOString() } };
    if (moving.has(step)) logger.warn(fields, 'a ladder step is in effect');
    else logger.info(fields, 'a ladder step has no effect on the configured levels');
  }
  // Promotions depend on how long this contract has been in use, so the time of its first use is recorded at startup.
  if (reason === undefined && stored?.contract !== state.contract) ladderFile.write(state);
  await ladderDocument?.start();
  const promote = async () => {
    if (ladderDocument === undefined) return ladder.promote(records);
    // In a fleet, only the gateway whose turn it is decides on promotions, using counts from the whole fleet.
    const turn = await ladderDocument.takeTurn();
    return turn && ladder.promote(records, turn.commit);
  };
  const evaluate = () =>
    promote().catch((error: unknown) => logger.warn({ err: error }, 'promotions could not be evaluated'));
  const timers = [
    setInterval(() => void ladderFile.checkForChanges(), RELOAD_MS),
    // The timer runs even when promotions are off, because a reload can turn them on.
    setInterval(() => void evaluate(), PROMOTION_MS),
  ];
  for (const timer of timers) timer.unref();
  return () => timers.forEach(clearInterval);
}

import type { Settings } from '../config/settings.ts';
import { whyUnwritable } from '../files/replace-file.ts';
import type { LadderState } from '../ladder/ladder-step.ts';
import { movedLevels } from '../ladder/ladder-rows.ts';
import { StartFault } from '../model/fault.ts';
import { CONTRACT_CHANGED } from './assemble-ladder.ts';
import type { Services } from './assemble-services.ts';

// Promotions depend on a window of hours, so it is enough to evaluate them every five minutes.
const PROMOTION_MS = 300_000;
// The maximum time until a running gateway notices a `portico ladder --lift`.
const RELOAD_MS = 10_000;

/**
 * Checks that the ladder can be stored, logs its steps and starts evaluating promotions at intervals. Returns a
 * function that stops the evaluation. If a configured file cannot be written, that is a configuration error; for the
 * default file, only a warning is logged.
 */
export async function openLadder(
  settings: Settings,
  { ladder, ladderFile, ledger, logger }: Pick<Services, 'ladder' | 'ladderFile' | 'ledger' | 'logger'>,
  stored: LadderState | undefined,
): Promise<() => void> {
  const { file } = settings.ladder;
  const reason = await whyUnwritable(file);
  if (reason !== undefined) {
    if (settings.originOf('/ladder/file') !== 'default')
      throw new StartFault([
        {
          ...settings.placeOf('/ladder/file'),
          message: `${file} cannot be written (${reason})`,
          suggestion: 'set a file in a writable folder, or :memory:',
        },
      ]);
    logger.warn({ ladder: { file, reason } }, 'the ladder is stored in memory only');
  }
  const state = ladder.state();
  if (stored !== undefined && stored.contract !== state.contract && stored.steps.length > 0)
    logger.warn({ ladder: { steps: stored.steps.length } }, CONTRACT_CHANGED);
  const moving = new Set(movedLevels(ladder.levels(), state).map(({ step }) => step));
  for (const step of state.steps) {
    const { operation, check, move, at } = step;
    const fields = { ladder: { operation, check, move, at: new Date(at).toISOString() } };
    if (moving.has(step)) logger.warn(fields, 'a step of the ladder is in effect');
    else logger.info(fields, 'a step of the ladder has no effect on the configured levels');
  }
  // The state is written at startup, because promotions depend on how long this contract has been in use.
  if (reason === undefined && stored?.contract !== state.contract) ladderFile.write(state);
  const evaluate = () =>
    ladder.promote(ledger).catch((error: unknown) => logger.warn({ err: error }, 'promotions could not be evaluated'));
  const timers = [setInterval(() => void ladderFile.checkForChanges(), RELOAD_MS)];
  // A reload can enable promotions.
  timers.push(setInterval(() => void evaluate(), PROMOTION_MS));
  for (const timer of timers) timer.unref();
  return () => timers.forEach(clearInterval);
}

import type { Settings } from '../config/settings.ts';
import { whyUnwritable } from '../files/replace-file.ts';
import type { LadderState } from '../ladder/ladder-step.ts';
import { movedLevels } from '../ladder/moved-levels.ts';
import { StartFault } from '../model/fault.ts';
import type { Services } from './assemble-services.ts';

// Often enough for a window of hours, seldom enough to cost nothing.
const PROMOTION_MS = 300_000;
// So long a running gateway may not know what `portico ladder --lift` did.
const LOOK_MS = 10_000;

/**
 * Sees that the ladder can be kept, tells what of it holds, and evaluates promotions from time to time. Answers how to
 * stop. A file that was named and cannot be written is a fault; the default one is only missed.
 */
export async function openLadder(
  settings: Settings,
  { ladder, ladderFile, ledger, logger }: Pick<Services, 'ladder' | 'ladderFile' | 'ledger' | 'logger'>,
  kept: LadderState | undefined,
): Promise<() => void> {
  const { file } = settings.ladder;
  const reason = await whyUnwritable(file);
  if (reason !== undefined) {
    if (settings.originOf('/ladder/file') !== 'default')
      throw new StartFault([
        {
          ...settings.placeOf('/ladder/file'),
          message: `${file} cannot be written (${reason})`,
          suggestion: 'name a file in a folder that may be written, or :memory:',
        },
      ]);
    logger.warn({ ladder: { file, reason } }, 'the ladder is kept in memory only');
  }
  const state = ladder.state();
  if (kept !== undefined && kept.contract !== state.contract && kept.steps.length > 0)
    logger.warn(
      { ladder: { steps: kept.steps.length } },
      'another contract: every check is tried at its configured level',
    );
  const moving = new Set(movedLevels(ladder.levels(), state).map(({ step }) => step));
  for (const step of state.steps) {
    const { operation, check, move, at } = step;
    const told = { ladder: { operation, check, move, at: new Date(at).toISOString() } };
    if (moving.has(step)) logger.warn(told, 'a step of the ladder holds');
    else logger.info(told, 'a step of the ladder is kept, and changes no level as things are configured');
  }
  // Written down at once, since promotions ask since when this contract is the one.
  if (reason === undefined && kept?.contract !== state.contract) ladderFile.write(state);
  const evaluate = () =>
    ladder.promote(ledger).catch((error: unknown) => logger.warn({ err: error }, 'promotions could not be evaluated'));
  const timers = [setInterval(() => void ladderFile.checkForChanges(), LOOK_MS)];
  if (settings.ladder.promote.enabled) timers.push(setInterval(() => void evaluate(), PROMOTION_MS));
  for (const timer of timers) timer.unref();
  return () => timers.forEach(clearInterval);
}

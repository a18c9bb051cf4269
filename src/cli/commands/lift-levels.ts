import type { Settings } from '../../config/settings.ts';
import { IN_MEMORY } from '../../files/replace-file.ts';
import type { Assembly } from '../../gateway.ts';
import { readLadderFile, writeLadderFile } from '../../ladder/ladder-file.ts';
import { LADDER_CHECKS, type LadderState, liftStep, stepOf } from '../../ladder/ladder-step.ts';
import { systemClock } from '../../lib/clock.ts';
import { type CommandIo, EXIT, UsageError } from '../command.ts';
import { knownOperation } from '../flag-values.ts';

/** Takes back what the ladder moved: `asked` is an operation, or an operation and a check with a colon between them. */
export async function liftLevels(
  settings: Settings,
  { services }: Assembly,
  asked: string,
  io: CommandIo,
): Promise<number> {
  const { ladder } = services;
  const [operation = '', ...after] = asked.split(':');
  const check = after.length === 0 ? undefined : after.join(':');
  knownOperation(
    operation,
    ladder.levels().map((one) => one.operation),
    '--lift',
  );
  const wanted = check === undefined ? LADDER_CHECKS : LADDER_CHECKS.filter((name) => name === check);
  if (wanted.length === 0) throw new UsageError(`--lift ${asked}: the checks are ${LADDER_CHECKS.join(', ')}`);
  const state = ladder.state();
  const found = wanted.flatMap((name) => stepOf(state.steps, operation, name) ?? []);
  if (found.length === 0) {
    io.err(
      otherContract(settings, state) ??
        `The ladder moved nothing of ${asked}${settings.ladder.file === IN_MEMORY ? ' (ladder.file is :memory:)' : ''}.`,
    );
    return EXIT.failed;
  }
  const steps = found.reduce((rest, step) => liftStep(rest, step, systemClock()), state.steps);
  await writeLadderFile(settings.ladder.file, { ...state, steps });
  for (const step of found) io.out(`${step.operation} ${step.check}: ${WORDS[step.move]}`);
  io.err('A running gateway follows within ten seconds; the console lifts at once.');
  return EXIT.ok;
}

const WORDS = {
  demoted: 'the demotion is lifted, the configured level holds again',
  promoted: 'the promotion is lifted, and not made again under this contract',
  lifted: 'it may be promoted again',
} as const;

/**
 * What to say where ladder.file holds steps of another contract than the one that is configured here: most often a
 * shell without the gateway's environment. Undefined where they belong together.
 */
export function otherContract({ ladder: { file } }: Settings, state: LadderState): string | undefined {
  const kept = file === IN_MEMORY ? undefined : readLadderFile(file);
  if (kept === undefined || kept.contract === state.contract || kept.steps.length === 0) return undefined;
  return (
    `${file} holds what the ladder moved under another contract (${kept.contract}, here ${state.contract}): ` +
    'run this with the configuration and the environment of the gateway (PORTICO_CONFIG, UPSTREAM_URL, PORTICO_MODE).'
  );
}

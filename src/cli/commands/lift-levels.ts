import type { Settings } from '../../config/settings.ts';
import { IN_MEMORY } from '../../files/replace-file.ts';
import type { Assembly } from '../../gateway.ts';
import { readLadderFile, writeLadderFile } from '../../ladder/ladder-file.ts';
import { LADDER_CHECKS, type LadderState, liftStep, stepOf } from '../../ladder/ladder-step.ts';
import { systemClock } from '../../lib/clock.ts';
import { type CommandIo, EXIT, UsageError } from '../command.ts';
import { requireKnownOperation } from '../flag-values.ts';

/** Undoes steps of the ladder. `target` is OPERATION or OPERATION:CHECK. Returns the exit code. */
export async function liftLevels(
  settings: Settings,
  { services }: Assembly,
  target: string,
  io: CommandIo,
): Promise<number> {
  const { ladder } = services;
  const [operation = '', ...rest] = target.split(':');
  const check = rest.length === 0 ? undefined : rest.join(':');
  requireKnownOperation(
    operation,
    ladder.levels().map((one) => one.operation),
    '--lift',
  );
  const checks = check === undefined ? LADDER_CHECKS : LADDER_CHECKS.filter((name) => name === check);
  if (checks.length === 0) throw new UsageError(`--lift ${target}: the checks are ${LADDER_CHECKS.join(', ')}`);
  const state = ladder.state();
  const found = checks.flatMap((name) => stepOf(state.steps, operation, name) ?? []);
  if (found.length === 0) {
    io.err(
      otherContract(settings, state) ??
        `The ladder has not moved ${target}${settings.ladder.file === IN_MEMORY ? ' (ladder.file is :memory:)' : ''}.`,
    );
    return EXIT.failed;
  }
  const steps = found.reduce((remaining, step) => liftStep(remaining, step, systemClock()), state.steps);
  await writeLadderFile(settings.ladder.file, { ...state, steps });
  for (const step of found) io.out(`${step.operation} ${step.check}: ${EFFECTS[step.move]}`);
  io.err('A running gateway applies this within ten seconds; the console applies it immediately.');
  return EXIT.ok;
}

const EFFECTS = {
  demoted: 'demotion undone; the configured level applies again',
  promoted: 'promotion undone; it will not be repeated for this contract',
  lifted: 'may be promoted again',
} as const;

/**
 * Returns a warning if ladder.file was written for a different contract, and otherwise undefined. The usual cause is a
 * shell that lacks the gateway's environment variables.
 */
export function otherContract({ ladder: { file } }: Settings, state: LadderState): string | undefined {
  const stored = file === IN_MEMORY ? undefined : readLadderFile(file);
  if (stored === undefined || stored.contract === state.contract || stored.steps.length === 0) return undefined;
  return (
    `${file} contains moves for a different contract (${stored.contract}; this one is ${state.contract}): ` +
    'run this command with the configuration and the environment of the gateway (PORTICO_CONFIG, UPSTREAM_URL, PORTICO_MODE).'
  );
}

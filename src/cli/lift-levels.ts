import type { Settings } from '../config/settings.ts';
import { IN_MEMORY } from '../files/in-memory.ts';
import type { Assembly } from '../gateway.ts';
import { writeLadderFile } from '../ladder/ladder-file.ts';
import { LADDER_CHECKS, stepOf } from '../ladder/ladder-step.ts';
import { liftStep } from '../ladder/lift-step.ts';
import { systemClock } from '../lib/clock.ts';
import type { CommandIo } from './command-io.ts';
import { EXIT, UsageError } from './command.ts';
import { knownOperation } from './known-operation.ts';
import { otherContract } from './other-contract.ts';

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

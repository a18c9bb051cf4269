import { type MachineTime, readMachineTime, stolenShare } from '../../bench/machine-time.ts';
import type { Proof, ProofContext, ProofResult } from './proof.ts';

/** A red row is repeated if more than this share of the machine's processor time was stolen while it ran. */
const TOLERATED_SHARE = 0.05;
const MAX_ATTEMPTS = 3;

/**
 * Runs a row. The limits on times and rates mean nothing if the host of a virtual machine runs something else
 * meanwhile, so a row that is red while much processor time was stolen is repeated. The result is that of the last
 * attempt; its figures state how many attempts there were, and how much time was stolen from the others.
 */
export async function runRow(
  { run }: Pick<Proof, 'run'>,
  context: ProofContext,
  read: () => MachineTime | undefined = readMachineTime,
): Promise<ProofResult> {
  const stolen: string[] = [];
  for (;;) {
    const before = read();
    const result = await run(context).catch((error: unknown): ProofResult => ({
      cases: 0,
      faults: [`the row failed: ${String(error)}`],
      figures: '',
    }));
    const share = stolenShare(before, read());
    const isRepeated = result.faults.length > 0 && share > TOLERATED_SHARE && stolen.length + 1 < MAX_ATTEMPTS;
    if (!isRepeated) return stolen.length === 0 ? result : { ...result, figures: describe(result.figures, stolen) };
    stolen.push(`${(share * 100).toFixed(0)}%`);
    for (const fault of result.faults) context.tick(fault);
    context.tick(`${stolen.at(-1) ?? ''} of the processor time was stolen by the host: the row is repeated`);
  }
}

function describe(figures: string, stolen: readonly string[]): string {
  const attempts = `attempt ${stolen.length + 1}; the others were red while the host took ${stolen.join(' and ')} of the processor time`;
  return figures === '' ? attempts : `${figures}; ${attempts}`;
}

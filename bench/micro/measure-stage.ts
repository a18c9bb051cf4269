import { type Spread, spreadOf } from '../spread.ts';

/** A separately measured part of the gateway's work. */
export interface Stage {
  readonly name: string;
  /** Every hit, every miss, or only requests whose target is not remembered. */
  readonly paidBy: 'hit' | 'miss' | 'first';
  /** Creates what a new request would contain. Its cost is not measured. */
  readonly input: () => unknown;
  readonly run: (input: never) => unknown;
}

/** The duration of the warm-up, and the duration and number of batches. */
export interface MicroEffort {
  readonly warmMs: number;
  readonly batchMs: number;
  readonly batches: number;
}

/** If more inputs existed at the same time, V8 would move them to its old generation before they were used. */
const MAX_INPUTS = 4000;
/** If fewer batches were undisturbed, all are used. */
const LEAST_QUIET = 5;

type Loop = (run: Stage['run'], inputs: readonly unknown[], calls: number, sink: unknown[]) => void;

/**
 * Compiles a loop for each stage, because V8 could not optimize the call in a shared loop. The loop stores the results,
 * so that V8 cannot eliminate the calls.
 */
function createLoop(): Loop {
  const text = 'for (let i = 0; i < calls; i += 1) sink[i & 7] = run(inputs[i]);';
  // oxlint-disable-next-line typescript/no-implied-eval -- the text is above
  return new Function('run', 'inputs', 'calls', 'sink', text) as Loop;
}

/** Warms up a stage and returns the nanoseconds per call of batches during which no other program ran on the core. */
export function measureStage({ input, run }: Stage, { warmMs, batchMs, batches }: MicroEffort): Spread {
  const loop = createLoop();
  const sink: unknown[] = Array.from({ length: 8 });
  const timed = (calls: number) => {
    const inputs = Array.from({ length: calls }, input);
    // Collecting only the young generation is usually enough to prevent a collection during the batch.
    globalThis.gc?.({ type: 'minor' });
    const pausesBefore = process.resourceUsage().involuntaryContextSwitches;
    const before = process.hrtime.bigint();
    loop(run, inputs, calls, sink);
    const nsPerCall = Number(process.hrtime.bigint() - before) / calls;
    return { nsPerCall, disturbed: process.resourceUsage().involuntaryContextSwitches > pausesBefore };
  };
  let calls = 10;
  for (const warmUntil = performance.now() + warmMs; performance.now() < warmUntil;)
    calls = Math.max(10, Math.min(MAX_INPUTS, Math.round((batchMs * 1e6) / timed(calls).nsPerCall)));
  const all = Array.from({ length: batches }, () => timed(calls));
  const quiet = all.filter(({ disturbed }) => !disturbed);
  return spreadOf((quiet.length < LEAST_QUIET ? all : quiet).map(({ nsPerCall }) => nsPerCall));
}

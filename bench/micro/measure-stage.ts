import { getHeapStatistics } from 'node:v8';
import { type Spread, spreadOf } from '../spread.ts';
import type { Operation } from './stage.ts';

/** The measured cost of a stage. */
export interface StageCost {
  readonly nsPerCall: Spread;
  /** The number of heap bytes that one call allocates. Undefined if Node does not count them. */
  readonly bytesPerCall: number | undefined;
}

/**
 * The duration of the warm-up, the duration and number of batches, and the number of calls in the memory measurement.
 */
export interface MicroEffort {
  readonly warmMs: number;
  readonly batchMs: number;
  readonly batches: number;
  readonly allocationCalls: number;
}

/**
 * If more inputs than this existed at the same time, V8 would move them to its old generation before they were used.
 */
const MAX_INPUTS = 4000;
/** The minimum number of undisturbed batches. If there are fewer, all batches are used. */
const LEAST_QUIET = 5;

/** The number of bytes per call above which V8's coarse allocation count is accurate enough. */
const EXACT_BELOW = 8000;

/** The number of bytes that can be allocated without triggering a garbage collection. */
const YOUNG_BYTES = 400_000;

type Loop = (run: Operation['run'], inputs: readonly unknown[], calls: number, sink: unknown[]) => void;

/**
 * Compiles a separate loop for each stage, because V8 could not optimize the call in a shared loop. The loop stores the
 * results, so that V8 cannot eliminate the calls.
 */
function createLoop(): Loop {
  const text = 'for (let i = 0; i < calls; i += 1) sink[i & 7] = run(inputs[i]);';
  // oxlint-disable-next-line typescript/no-implied-eval -- the text is above
  return new Function('run', 'inputs', 'calls', 'sink', text) as Loop;
}

/** Warms up a stage and measures batches of calls. The inputs are created before each batch. */
export function measureStage(
  { input, run }: Operation,
  { warmMs, batchMs, batches, allocationCalls }: MicroEffort,
): StageCost {
  const loop = createLoop();
  const sink: unknown[] = Array.from({ length: 8 });
  const inputsOf = (calls: number) => Array.from({ length: calls }, (_, index) => input?.(index));
  const timed = (calls: number): Batch => {
    const inputs = inputsOf(calls);
    // Collecting only the young generation is usually enough to prevent garbage collection during the batch. A full
    // collection of the fixture's heap would take ten times as long as the batch.
    globalThis.gc?.({ type: 'minor' });
    const pausesBefore = pauses();
    const before = process.hrtime.bigint();
    loop(run, inputs, calls, sink);
    const nsPerCall = Number(process.hrtime.bigint() - before) / calls;
    return { nsPerCall, disturbed: pauses() > pausesBefore };
  };
  let calls = 10;
  for (const warmUntil = performance.now() + warmMs; performance.now() < warmUntil;)
    calls = Math.max(10, Math.min(MAX_INPUTS, Math.round((batchMs * 1e6) / timed(calls).nsPerCall)));
  const all = Array.from({ length: batches }, () => timed(calls));
  const quiet = all.filter(({ disturbed }) => !disturbed);
  const nsPerCall = spreadOf((quiet.length < LEAST_QUIET ? all : quiet).map((batch) => batch.nsPerCall));
  const bytesPerCall = allocatedBy(allocationCalls, (count) => {
    const inputs = inputsOf(count);
    return () => loop(run, inputs, count, sink);
  });
  return { nsPerCall, bytesPerCall };
}

interface Batch {
  readonly nsPerCall: number;
  /** True if another program ran on the core during the batch. */
  readonly disturbed: boolean;
}

function pauses(): number {
  return process.resourceUsage().involuntaryContextSwitches;
}

/**
 * Returns how many bytes one call allocates. V8 counts allocations only in coarse steps, which is accurate enough if
 * each call allocates many bytes. V8's count of the bytes in use is exact, but only until the next garbage collection.
 * Therefore, if a call allocates few bytes, the coarse count only determines how many calls to make in a second, exact
 * measurement.
 */
function allocatedBy(most: number, call: (calls: number) => () => void): number | undefined {
  if (heap().allocated === undefined) return undefined;
  const grown = (calls: number, of: () => number) => {
    const loop = call(calls);
    globalThis.gc?.();
    const first = of();
    const second = of();
    loop();
    // Reading the heap statistics also allocates memory.
    return Math.max(0, (of() - second - (second - first)) / calls);
  };
  const about = grown(most, () => heap().allocated ?? 0);
  if (about > EXACT_BELOW) return about;
  return grown(Math.min(most, Math.ceil(YOUNG_BYTES / Math.max(1, about))), () => heap().used);
}

function heap(): { readonly allocated: number | undefined; readonly used: number } {
  const { used_heap_size: used, total_allocated_bytes: allocated } = getHeapStatistics() as HeapStatistics;
  return { allocated, used };
}

interface HeapStatistics {
  readonly used_heap_size: number;
  readonly total_allocated_bytes?: number;
}

import type { Machine } from './machine.ts';
import type { LatencyRow } from './measure-latency.ts';
import type { MemoryResult } from './measure-memory.ts';
import type { WarmUpCurve } from './measure-warm-up.ts';
import type { StartResult } from './measure-start.ts';
import type { WarmUpRule } from './warm-up.ts';
import type { ScenarioResult, ScenarioRow } from './run-scenario.ts';

/** A part that could not be measured, and the reason. */
export interface Failure {
  readonly part: string;
  readonly message: string;
}

/** The results of a run. Parts that were not measured are absent. */
export interface Results {
  readonly startedAt: string;
  readonly effort: 'full' | 'quick';
  readonly warmUp: WarmUpRule;
  /** The names of the selected parts. Empty if all parts were selected. */
  readonly only: readonly string[];
  readonly machine: Machine;
  /** The duration of the run in seconds, including package installation. */
  readonly seconds: number;
  readonly scenarios: readonly ScenarioResult[];
  readonly latency?: readonly LatencyRow[] | undefined;
  readonly start?: StartResult | undefined;
  readonly memory?: MemoryResult | undefined;
  readonly warmUpCurve?: WarmUpCurve | undefined;
  readonly failures: readonly Failure[];
}

/** Returns a peer's row in a scenario, or undefined if the peer was not measured. */
export function rowOf(
  { scenarios }: Pick<Results, 'scenarios'>,
  scenario: string,
  peer: string,
): ScenarioRow | undefined {
  return scenarios.find(({ id }) => id === scenario)?.rows.find((row) => row.peer === peer);
}

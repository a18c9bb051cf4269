import type { Clock } from './clock.ts';

/** After how many failures in a row a circuit opens, and for how long. */
export interface CircuitOptions {
  readonly failures: number;
  readonly openSeconds: number;
}

/** How an attempt ended: `neutral` says nothing about the other side (it was given up, or never made). */
export type CircuitOutcome = 'success' | 'failure' | 'neutral';

/** Whether attempts pass: all of them, none, or one on trial. */
export type CircuitState = 'closed' | 'open' | 'half-open';

/** Pauses attempts after failures in a row, then lets one through on trial. */
export interface Circuit {
  /** Seconds to wait before an attempt may pass (at least 1); 0 when one may pass now. */
  waitSeconds(): number;
  /** Begins an attempt, to be called only when `waitSeconds` is 0; what it answers takes the outcome, once. */
  begin(): (outcome: CircuitOutcome) => void;
  state(): CircuitState;
}

/** Makes a closed circuit. */
export function createCircuit(options: CircuitOptions, clock: Clock): Circuit {
  let failures = 0;
  let openUntilAt: number | undefined;
  let onTrial = false;

  const close = () => {
    failures = 0;
    openUntilAt = undefined;
  };
  const open = () => {
    failures = 0;
    openUntilAt = clock() + options.openSeconds * 1000;
  };

  const settleTrial = (outcome: CircuitOutcome) => {
    onTrial = false;
    if (outcome === 'success') close();
    else if (outcome === 'failure') open();
  };
  const settle = (outcome: CircuitOutcome) => {
    // What began before the circuit opened says nothing new; only the trial decides then.
    if (openUntilAt !== undefined || outcome === 'neutral') return;
    if (outcome === 'success') failures = 0;
    else if (++failures >= options.failures) open();
  };

  return {
    waitSeconds() {
      if (openUntilAt === undefined) return 0;
      const waitMs = openUntilAt - clock();
      if (waitMs > 0) return Math.max(1, Math.ceil(waitMs / 1000));
      return onTrial ? 1 : 0;
    },
    begin() {
      const trial = openUntilAt !== undefined;
      if (trial) onTrial = true;
      let settled = false;
      return (outcome) => {
        if (settled) return;
        settled = true;
        (trial ? settleTrial : settle)(outcome);
      };
    },
    state() {
      if (openUntilAt === undefined) return 'closed';
      return clock() < openUntilAt ? 'open' : 'half-open';
    },
  };
}

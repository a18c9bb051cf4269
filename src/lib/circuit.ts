import type { Clock } from './clock.ts';

/** The number of consecutive failures after which a circuit opens, and how long it stays open. */
interface CircuitOptions {
  readonly failures: number;
  readonly openSeconds: number;
}

/**
 * The outcome of an attempt. The outcome of an attempt that was aborted or never made is `neutral`, because it says
 * nothing about the server.
 */
export type CircuitOutcome = 'success' | 'failure' | 'neutral';

/** The state of a circuit: all attempts are allowed, no attempts are allowed, or only a single trial is allowed. */
export type CircuitState = 'closed' | 'open' | 'half-open';

/** Called when a circuit opens and when it closes after a successful trial, but not after a failed trial. */
type CircuitListener = (change: { readonly opened: boolean; readonly openMs: number }) => void;

/** A circuit breaker. After a certain number of consecutive failures, it blocks attempts and later allows a trial. */
interface Circuit {
  /**
   * Returns the number of seconds until an attempt is allowed. The number is 0 if an attempt is allowed now, and at
   * least 1 otherwise.
   */
  waitSeconds(): number;
  /**
   * Begins an attempt. Returns a function that must be called once with the outcome of the attempt. Call this method
   * only after `waitSeconds` has returned 0.
   */
  begin(): (outcome: CircuitOutcome) => void;
  state(): CircuitState;
  /** Closes the circuit without a trial, and forgets earlier failures. */
  close(): void;
}

/** Creates a circuit, which is initially closed. */
export function createCircuit(
  options: CircuitOptions,
  clock: Clock,
  onChange: CircuitListener = () => undefined,
): Circuit {
  let failures = 0;
  let openUntilAt: number | undefined;
  let openedAt: number | undefined;
  let onTrial = false;

  const reset = (until: number | undefined) => {
    failures = 0;
    openUntilAt = until;
  };
  const open = () => {
    const now = clock();
    reset(now + options.openSeconds * 1000);
    if (openedAt !== undefined) return;
    openedAt = now;
    onChange({ opened: true, openMs: 0 });
  };
  const close = () => {
    const openMs = openedAt === undefined ? 0 : Math.max(0, clock() - openedAt);
    reset(undefined);
    openedAt = undefined;
    onChange({ opened: false, openMs });
  };

  const settleTrial = (outcome: CircuitOutcome) => {
    onTrial = false;
    if (outcome === 'success') close();
    else if (outcome === 'failure') open();
  };
  const settle = (outcome: CircuitOutcome) => {
    // Attempts that began before the circuit opened are ignored, because only the trial determines whether the circuit
    // closes.
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
        (trial && openUntilAt !== undefined ? settleTrial : settle)(outcome);
      };
    },
    state() {
      if (openUntilAt === undefined) return 'closed';
      return clock() < openUntilAt ? 'open' : 'half-open';
    },
    close() {
      onTrial = false;
      if (openUntilAt === undefined) failures = 0;
      else close();
    },
  };
}

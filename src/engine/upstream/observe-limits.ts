import { UpstreamFailure, type UpstreamFailureKind } from '../model/upstream-failure.ts';
import type { GatePass, UpstreamGate } from './upstream-gate.ts';

/** A limit that would have refused an exchange. */
export type ExceededLimit = Extract<UpstreamFailureKind, 'shed' | 'deadline' | 'circuit_open'>;

/** A pass that also records the limit that would have refused the exchange. */
export interface ObservedPass extends GatePass {
  /** The first limit that the exchange exceeded. Undefined if it has not exceeded any. */
  exceeded?: ExceededLimit | undefined;
}

/**
 * Creates a gate for `observe` mode. Each exchange is admitted by `open`, which has no limits. The exchange also enters
 * `limited`, which has the configured limits. A refusal by `limited` is only recorded, and no exchange waits for
 * `limited`.
 */
export function observeLimits(open: UpstreamGate, limited: UpstreamGate): UpstreamGate {
  const observe = (pass: GatePass, admission: () => GatePass | Promise<GatePass>): ObservedPass => {
    let simulated: GatePass | undefined;
    let left = false;
    const refused = (error: unknown) => {
      const kind = error instanceof UpstreamFailure ? error.kind : undefined;
      if (kind === 'shed' || kind === 'circuit_open') observed.exceeded ??= kind;
    };
    const admitted = (given: GatePass) => {
      simulated = given;
      // The exchange may already be complete when its simulated wait ends.
      if (left) given.leave();
    };
    const observed: ObservedPass = {
      stream(owner) {
        pass.stream(owner);
        attemptTo(() => limited.checkStreams(owner), refused);
        simulated?.stream(owner);
      },
      leave(failure) {
        if (left) return;
        left = true;
        pass.leave(failure);
        simulated?.leave(failure);
      },
    };
    attemptTo(() => {
      const given = admission();
      if (given instanceof Promise) given.then(admitted, refused);
      else admitted(given);
    }, refused);
    return observed;
  };
  return {
    enter(waiter) {
      const pass = open.enter(waiter);
      // A gate without limits never makes an exchange wait.
      return pass instanceof Promise ? pass : observe(pass, () => limited.enter(waiter));
    },
    enterStream: (owner) => observe(open.enterStream(owner), () => limited.enterStream(owner)),
    checkStreams: open.checkStreams,
    stats: open.stats,
    history: open.history,
    closeCircuit() {
      open.closeCircuit();
      limited.closeCircuit();
    },
  };
}

function attemptTo(step: () => void, failed: (error: unknown) => void): void {
  try {
    step();
  } catch (error) {
    failed(error);
  }
}

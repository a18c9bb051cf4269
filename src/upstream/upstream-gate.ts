import { createCircuit, type CircuitState } from '../lib/circuit.ts';
import type { Clock } from '../lib/clock.ts';
import type { Ending } from '../lib/ending.ts';
import { createLimiter, LimiterRefusal } from '../lib/limiter.ts';
import { UpstreamFailure, type UpstreamFailureKind } from '../model/upstream-failure.ts';
import type { UpstreamOptions } from './upstream-options.ts';

/** The right to make one exchange; `leave` gives it back, once, with how the exchange ended. */
export interface GatePass {
  /** `failure` is the transport's, if there was one; any answer, whatever its status, is none. */
  leave(failure?: UpstreamFailureKind): void;
}

/** Decides whether an exchange may begin: one bound and one circuit for plans and passthrough together. */
export interface UpstreamGate {
  /**
   * A pass at once where nobody has to wait, and else once there is room; `signal`, asked for only then, ends the wait.
   * Throws or rejects with `UpstreamFailure` of kind `circuit_open`, `shed` or `aborted`.
   */
  enter(signal?: () => Ending | undefined): GatePass | Promise<GatePass>;
  stats(): { readonly inFlight: number; readonly queued: number; readonly circuit: CircuitState };
}

// What the gateway or the client did itself says nothing about the upstream.
const NEUTRAL: ReadonlySet<UpstreamFailureKind> = new Set(['aborted', 'shed', 'circuit_open']);
// The upstream answered, only more than is kept: the transport works.
const ANSWERED: ReadonlySet<UpstreamFailureKind> = new Set(['too_large']);

/** Makes the gate. */
export function createUpstreamGate(options: UpstreamOptions, clock: Clock): UpstreamGate {
  const limiter = createLimiter(options);
  const circuit = createCircuit(options.circuit, clock);

  const refuseWhileOpen = () => {
    const retryAfterSeconds = circuit.waitSeconds();
    if (retryAfterSeconds > 0) throw new UpstreamFailure('circuit_open', { retryAfterSeconds });
  };

  const passOf = (release: () => void): GatePass => {
    const settle = circuit.begin();
    return {
      leave(failure) {
        if (failure === undefined || ANSWERED.has(failure)) settle('success');
        else settle(NEUTRAL.has(failure) ? 'neutral' : 'failure');
        release();
      },
    };
  };

  const wait = async (signal: Ending | undefined): Promise<GatePass> => {
    const release = await limiter.acquire(signal).catch((error: unknown) => {
      if (!(error instanceof LimiterRefusal)) throw new UpstreamFailure('aborted', { cause: error });
      throw new UpstreamFailure('shed', {
        cause: error,
        retryAfterSeconds: Math.ceil(options.queueTimeoutMs / 1000),
      });
    });
    try {
      // The circuit may have opened during the wait.
      refuseWhileOpen();
    } catch (error) {
      release();
      throw error;
    }
    return passOf(release);
  };

  return {
    enter(signal) {
      refuseWhileOpen();
      const release = limiter.tryAcquire();
      return release ? passOf(release) : wait(signal?.());
    },
    stats: () => ({ ...limiter.stats(), circuit: circuit.state() }),
  };
}

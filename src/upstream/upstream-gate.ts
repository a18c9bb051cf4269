import { createCircuit, type CircuitOutcome, type CircuitState } from '../lib/circuit.ts';
import type { Clock } from '../lib/clock.ts';
import type { Cancellation } from '../lib/ending.ts';
import { createLimiter, LimiterRefusal } from '../lib/limiter.ts';
import { UpstreamFailure, type UpstreamFailureKind } from '../model/upstream-failure.ts';
import { createClientStreams, type StreamOwner } from './client-streams.ts';
import type { UpstreamOptions } from './upstream-options.ts';

/** The right to make one exchange; `leave` gives it back, once, with how the exchange ended. */
export interface GatePass {
  /**
   * Gives the place to the next in the queue; from here until `leave` the exchange is one of this client's streams. To be
   * called when the upstream has done its part and the client decides how long the rest takes.
   */
  stream(owner: StreamOwner): void;
  /** `failure` is the transport's, if there was one; any answer, whatever its status, is none. */
  leave(failure?: UpstreamFailureKind): void;
}

/** Decides whether an exchange may begin: one bound and one circuit for plans and passthrough together. */
export interface UpstreamGate {
  /**
   * A pass at once where nobody has to wait, and else once there is room; `signal`, asked for only then, ends the wait.
   * Throws or rejects with `UpstreamFailure` of kind `circuit_open`, `shed` or `aborted`.
   */
  enter(signal?: () => Cancellation | undefined): GatePass | Promise<GatePass>;
  /**
   * A pass at once for an exchange that streams a client's body up: one of its streams from the beginning, without a place.
   * Throws `UpstreamFailure` of kind `circuit_open` or `shed`.
   */
  enterStream(owner: StreamOwner): GatePass;
  /** Throws `UpstreamFailure` of kind `shed` when this client may open no further stream. */
  checkStreams(owner: StreamOwner): void;
  stats(): {
    readonly inFlight: number;
    readonly queued: number;
    readonly streams: number;
    readonly circuit: CircuitState;
  };
}

// What the gateway or the client did itself says nothing about the upstream.
const NEUTRAL: ReadonlySet<UpstreamFailureKind> = new Set(['aborted', 'shed', 'circuit_open']);
// The upstream answered, only more than is kept: the transport works.
const ANSWERED: ReadonlySet<UpstreamFailureKind> = new Set(['too_large']);

function outcomeOf(failure: UpstreamFailureKind | undefined): CircuitOutcome {
  if (failure === undefined || ANSWERED.has(failure)) return 'success';
  return NEUTRAL.has(failure) ? 'neutral' : 'failure';
}

/** Makes the gate. */
export function createUpstreamGate(options: UpstreamOptions, clock: Clock): UpstreamGate {
  const limiter = createLimiter(options);
  const circuit = createCircuit(options.circuit, clock);
  const streams = createClientStreams(options.streams);

  const refuseWhileOpen = () => {
    const retryAfterSeconds = circuit.waitSeconds();
    if (retryAfterSeconds > 0) throw new UpstreamFailure('circuit_open', { retryAfterSeconds });
  };

  const passOf = (release: () => void): GatePass => {
    const isTrial = circuit.state() !== 'closed';
    const settle = circuit.begin();
    let free = release;
    let isStream = false;
    return {
      stream(owner) {
        if (isStream) return;
        isStream = true;
        // Everybody waits for the outcome of a trial, and the client must not decide for how long.
        if (isTrial) settle('success');
        free();
        free = streams.begin(owner);
      },
      leave(failure) {
        settle(outcomeOf(failure));
        free();
      },
    };
  };

  const wait = async (signal: Cancellation | undefined): Promise<GatePass> => {
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
    enterStream(owner) {
      refuseWhileOpen();
      streams.check(owner);
      // Never the trial of a circuit: everybody would wait for a client that sends slowly.
      const settle = circuit.state() === 'closed' ? circuit.begin() : undefined;
      const end = streams.begin(owner);
      return {
        stream: () => undefined,
        leave(failure) {
          settle?.(outcomeOf(failure));
          end();
        },
      };
    },
    checkStreams: (owner) => streams.check(owner),
    stats: () => ({ ...limiter.stats(), streams: streams.open(), circuit: circuit.state() }),
  };
}

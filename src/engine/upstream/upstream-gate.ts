import { type CircuitOutcome, type CircuitState, createCircuit } from '../../lib/circuit.ts';
import type { Clock } from '../../lib/clock.ts';
import { createLimiter, LimiterRefusal } from '../../lib/limiter.ts';
import type { Cancellation } from '../model/arrival.ts';
import type { FailureFacts } from '../model/failure-cause.ts';
import { UpstreamFailure, type UpstreamFailureKind } from '../model/upstream-failure.ts';
import { createClientStreams } from './client-streams.ts';
import type { StreamOwner } from './stream-owner.ts';
import type { UpstreamOptions } from './upstream-options.ts';

/** A pass for one exchange. Call `leave` when the exchange ends to return the pass and report the outcome. */
export interface GatePass {
  /**
   * Gives this exchange's slot to the next exchange in the queue. From then until `leave`, this exchange counts as one
   * of its client's streams. Call this method as soon as the remaining duration of the exchange depends only on that
   * client.
   */
  stream(owner: StreamOwner): void;
  /**
   * Returns the pass. `failure` is the transport failure, if there was one. Any response counts as a transport
   * success, regardless of its status. `page` identifies the requested page. If the same page fails repeatedly,
   * only the first few failures count toward the circuit.
   */
  leave(failure?: UpstreamFailure, page?: string): void;
}

/** An exchange that must wait for a slot. */
interface WaitingExchange {
  /** The signal that cancels the wait. */
  readonly signal?: Cancellation | undefined;
  /** The client to which the exchange belongs. Waiting clients take turns. */
  readonly client?: string;
}

/** A change in the circuit's state: the circuit has opened or closed. */
export interface CircuitChange {
  readonly opened: boolean;
  /** How long the circuit was open, in milliseconds. 0 if it has just opened. */
  readonly openMs: number;
  /** The failure that opened the circuit. Undefined if the circuit has closed. */
  readonly failure: FailureFacts | undefined;
}

/** A failure of the upstream or of the connection to it. */
interface PastFailure extends FailureFacts {
  readonly kind: UpstreamFailureKind;
  /** When the failure occurred, in epoch milliseconds. */
  readonly at: number;
}

/** The most recent failure, and the most recent changes in the circuit's state, since startup. */
export interface GateHistory {
  readonly lastFailure: PastFailure | undefined;
  /** The most recent changes in the circuit's state, oldest first. `at` is in epoch milliseconds. */
  readonly changes: readonly (CircuitChange & { readonly at: number })[];
}

const MAX_CHANGES = 50;

/** If the same page fails repeatedly, at most this many consecutive failures count toward the circuit. */
const COUNTED_PER_PAGE = 3;

/** Decides whether an exchange may begin. Documented operations and passthrough share one limit and one circuit. */
export interface UpstreamGate {
  /**
   * Returns a pass immediately if a slot is free. Otherwise, returns a promise for a pass. `waiter` is called only if
   * the exchange has to wait. Throws or rejects with an `UpstreamFailure` of kind `circuit_open`, `shed` or `aborted`.
   */
  enter(waiter?: () => WaitingExchange): GatePass | Promise<GatePass>;
  /**
   * Returns a pass immediately for an exchange that streams a client's body to the upstream. Such an exchange takes no
   * slot, but counts as one of the client's streams from the beginning. Throws an `UpstreamFailure` of kind
   * `circuit_open` or `shed`.
   */
  enterStream(owner: StreamOwner): GatePass;
  /** Throws an `UpstreamFailure` of kind `shed` if this client may not open another stream. */
  checkStreams(owner: StreamOwner): void;
  stats(): {
    readonly inFlight: number;
    readonly queued: number;
    readonly streams: number;
    readonly circuit: CircuitState;
  };
  history(): GateHistory;
  /** Lets exchanges begin again, whatever has failed before. */
  closeCircuit(): void;
}

/** The effect of each kind of failure on the circuit. */
const OUTCOMES: Readonly<Record<UpstreamFailureKind, CircuitOutcome>> = {
  refused: 'failure',
  reset: 'failure',
  truncated: 'failure',
  deadline: 'failure',
  // The upstream responded, so the transport works even though the response exceeds the size limit.
  too_large: 'success',
  // Failures caused by the gateway or the client do not count against the upstream.
  aborted: 'neutral',
  shed: 'neutral',
  circuit_open: 'neutral',
};

/** Creates the gate. `onCircuit` is called when the circuit opens or closes. */
export function createUpstreamGate(
  options: UpstreamOptions,
  clock: Clock,
  onCircuit?: (change: CircuitChange) => void,
): UpstreamGate {
  const limiter = createLimiter(options);
  let lastFailure: FailureFacts | undefined;
  let pastFailure: PastFailure | undefined;
  const changes: GateHistory['changes'][number][] = [];
  const circuit = createCircuit(options.circuit, clock, ({ opened, openMs }) => {
    const change = { opened, openMs, failure: opened ? lastFailure : undefined };
    changes.push({ ...change, at: clock() });
    if (changes.length > MAX_CHANGES) changes.shift();
    onCircuit?.(change);
  });
  // The number of failures for each page since the last success. The map contains only pages whose failures count
  // toward the circuit, so it never has more entries than the number of failures that opens the circuit.
  const pageFailures = new Map<string, number>();
  const isRepeated = (page: string) => {
    const failures = (pageFailures.get(page) ?? 0) + 1;
    if (failures > COUNTED_PER_PAGE) return true;
    pageFailures.set(page, failures);
    return false;
  };
  const outcomeFor = (failure: UpstreamFailure | undefined, page: string | undefined): CircuitOutcome => {
    const outcome = failure === undefined ? 'success' : OUTCOMES[failure.kind];
    if (outcome === 'success' && pageFailures.size > 0) pageFailures.clear();
    // A refused connection affects all pages, and a trial must have an outcome regardless of the page.
    const isOfPage = outcome === 'failure' && failure?.kind !== 'refused' && circuit.state() === 'closed';
    return isOfPage && page !== undefined && isRepeated(page) ? 'neutral' : outcome;
  };
  const settleWith = (
    settle: (outcome: CircuitOutcome) => void,
    failure: UpstreamFailure | undefined,
    page?: string,
  ) => {
    lastFailure = failure?.facts;
    if (failure?.facts !== undefined && OUTCOMES[failure.kind] !== 'neutral')
      pastFailure = { ...failure.facts, kind: failure.kind, at: clock() };
    settle(outcomeFor(failure, page));
  };
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
        // All other exchanges wait for the outcome of a trial, which must therefore not depend on the client's speed.
        if (isTrial) settle('success');
        free();
        free = streams.begin(owner);
      },
      leave(failure, page) {
        settleWith(settle, failure, page);
        free();
      },
    };
  };

  const wait = async (waiter: WaitingExchange | undefined): Promise<GatePass> => {
    const release = await limiter.acquire(waiter).catch((error: unknown) => {
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
    enter(waiter) {
      refuseWhileOpen();
      const release = limiter.tryAcquire();
      return release ? passOf(release) : wait(waiter?.());
    },
    enterStream(owner) {
      refuseWhileOpen();
      streams.check(owner);
      // This exchange is never the circuit's trial, because all other exchanges would then have to wait for a client
      // that may be slow to send.
      const settle = circuit.state() === 'closed' ? circuit.begin() : undefined;
      const end = streams.begin(owner);
      return {
        stream: () => undefined,
        leave(failure) {
          if (settle !== undefined) settleWith(settle, failure);
          end();
        },
      };
    },
    checkStreams: (owner) => streams.check(owner),
    stats: () => ({ ...limiter.stats(), streams: streams.open(), circuit: circuit.state() }),
    closeCircuit() {
      pageFailures.clear();
      circuit.close();
    },
    history: () => ({ lastFailure: pastFailure, changes: [...changes] }),
  };
}

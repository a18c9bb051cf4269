import { type CircuitOutcome, type CircuitState, createCircuit } from '../../lib/circuit.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Cancellation } from '../model/arrival.ts';
import type { FailureFacts } from '../model/failure-cause.ts';
import { UpstreamFailure, type UpstreamFailureKind } from '../model/upstream-failure.ts';
import { createClientStreams, type StreamOwner } from './client-streams.ts';
import { createFairQueue } from '../../lib/fair-queue.ts';
import type { UpstreamOptions } from './upstream-options.ts';
import { networkOf } from '../../lib/network-address.ts';

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
interface Waiter {
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
  enter(waiter?: () => Waiter): GatePass | Promise<GatePass>;
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

  const wait = async (waiter: Waiter | undefined): Promise<GatePass> => {
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
    history: () => ({ lastFailure: pastFailure, changes: [...changes] }),
  };
}

/** The maximum number of concurrent tasks, the maximum number of waiting tasks, and the maximum waiting time. */
interface LimiterOptions {
  readonly concurrency: number;
  readonly queue: number;
  readonly queueTimeoutMs: number;
}

/** The error for a task that is refused because the queue is full or the task has waited too long. */
export class LimiterRefusal extends Error {
  override readonly name = 'LimiterRefusal';
  readonly reason: 'full' | 'timeout';

  constructor(reason: 'full' | 'timeout') {
    super(reason === 'full' ? 'the queue is full' : 'the wait in the queue timed out');
    this.reason = reason;
  }
}

/** Limits concurrency, with a short queue in which clients take turns. */
interface Limiter {
  /**
   * Waits for a slot and returns a function that releases it. Calling the function again has no effect. Rejects with a
   * `LimiterRefusal` or with the signal's reason. If the queue is full, the last task of the client with the most
   * waiting tasks is removed to make room for a client with fewer.
   */
  acquire(waiter?: Waiter): Promise<() => void>;
  /**
   * Takes a free slot and returns a function that releases it. Calling the function again has no effect. Returns
   * undefined if no slot is free.
   */
  tryAcquire(): (() => void) | undefined;
  stats(): { readonly inFlight: number; readonly queued: number };
}

/** A task in the queue. */
interface Waiting {
  enter(): void;
  refuse(reason: LimiterRefusal['reason']): void;
}

/** Creates a limiter whose slots are all free. */
export function createLimiter(options: LimiterOptions): Limiter {
  let inFlight = 0;
  const waiting = createFairQueue<Waiting>();

  const createRelease = () => {
    let released = false;
    return () => {
      if (released) return;
      released = true;
      // The slot goes directly to the next task in the queue, so that no new task can overtake it.
      if (waiting.size > 0) waiting.next()?.enter();
      else inFlight -= 1;
    };
  };

  const tryAcquire = () => {
    if (inFlight >= options.concurrency) return undefined;
    inFlight += 1;
    return createRelease();
  };

  return {
    tryAcquire,
    acquire({ signal, client = '' } = {}) {
      if (signal?.aborted) return Promise.reject(toError(signal.reason));
      const free = tryAcquire();
      if (free) return Promise.resolve(free);
      if (waiting.size >= options.queue) {
        const displaced = waiting.displace(client);
        if (displaced === undefined) return Promise.reject(new LimiterRefusal('full'));
        displaced.refuse('full');
      }
      return new Promise((resolve, reject) => {
        const leave = () => {
          waiting.remove(client, waits);
          clearTimeout(timer);
          signal?.removeEventListener('abort', abort);
        };
        const waits: Waiting = {
          enter() {
            leave();
            resolve(createRelease());
          },
          refuse(reason) {
            leave();
            reject(new LimiterRefusal(reason));
          },
        };
        const abort = () => {
          leave();
          reject(toError(signal?.reason));
        };
        const timer = setTimeout(() => waits.refuse('timeout'), options.queueTimeoutMs);
        signal?.addEventListener('abort', abort, { once: true });
        waiting.add(client, waits);
      });
    },
    stats: () => ({ inFlight, queued: waiting.size }),
  };
}

function toError(reason: unknown): Error {
  return reason instanceof Error ? reason : new Error('aborted', { cause: reason });
}

/**
 * Returns the client to which a waiting request is attributed when clients take turns: the caller if verified, or the
 * caller's network otherwise.
 */
export function queueClient({ caller, isVerified, address }: StreamOwner): string {
  return isVerified && caller !== undefined ? caller : `network ${networkOf(address)}`;
}

import { setTimeout as wait } from 'node:timers/promises';
import type { Clock } from '../lib/clock.ts';
import { createPeer, type Handler, type IpcPort, type Peer } from './ipc-peer.ts';

/** A worker process. */
export interface WorkerProcess extends IpcPort {
  readonly pid: number | undefined;
  onExit(listener: (code: number | null, signal: string | null) => void): void;
  kill(signal: 'SIGTERM' | 'SIGKILL'): void;
}

/** The data that identifies a worker. */
export interface WorkerIdentity {
  /** The worker's number, starting at 1. A replacement worker has the same number as the worker that it replaces. */
  readonly number: number;
  readonly pid: number | undefined;
}

/** A worker with functions that the primary process can call. */
export interface Worker extends WorkerIdentity {
  readonly peer: Peer;
}

/** Callbacks for worker events. The events are logged and counted. */
interface WorkerEvents {
  /** Called when a worker is ready to serve requests. `value` is the value that the worker passed to `ready`. */
  readonly onReady?: (worker: WorkerIdentity, value: unknown) => void;
  /** Called when a worker exits unexpectedly. It is replaced after `delayMs`. */
  readonly onCrash?: (worker: WorkerIdentity, cause: string, delayMs: number) => void;
  /** Called whenever a worker exits, so that its last reported counts can be preserved. */
  readonly onEnd?: (worker: WorkerIdentity) => void;
}

/** The dependencies of a supervisor. */
interface SupervisorParts {
  readonly count: number;
  /** Starts the process for the worker with this number. */
  readonly fork: (number: number) => WorkerProcess;
  /** Returns the function that a worker can call under this name, or undefined if there is none. */
  readonly handlerOf: (name: string, worker: WorkerIdentity) => Handler | undefined;
  readonly events: WorkerEvents;
  readonly clock: Clock;
}

/** The workers of the primary process. */
export interface Supervisor {
  /** Starts all workers. Resolves when all of them are ready, and rejects if one of them cannot start. */
  start(): Promise<void>;
  /** The workers that are ready. */
  ready(): readonly Worker[];
  /** The workers that follow the state of the primary process. They are ready or about to become ready. */
  joined(): readonly Worker[];
  /** The number of crashes since startup. */
  restarts(): number;
  /** Calls a function in all ready workers at the same time. The result does not include workers that fail. */
  callAll(name: string, value?: unknown, timeoutMs?: number): Promise<readonly unknown[]>;
  /** Stops all workers once they have finished their requests. Workers that take longer than `graceMs` are killed. */
  stop(graceMs: number): Promise<void>;
}

/**
 * The delay before a crashed worker is replaced. The delay doubles with each crash, up to `longestMs`. After a worker
 * has run for `stableMs`, the delay is reset.
 */
const BACK_OFF = { firstMs: 100, longestMs: 30_000, stableMs: 60_000 };

/** Creates the supervisor. A worker joins by calling `join`, and becomes ready by calling `ready`. */
export function superviseWorkers({ count, fork, handlerOf, events, clock }: SupervisorParts): Supervisor {
  const ready = new Map<number, Worker>();
  const joined = new Map<number, Worker>();
  const running = new Map<number, { readonly process: WorkerProcess; readonly ended: Promise<void> }>();
  const crashes = new Map<number, number>();
  const stopping = new AbortController();
  let restarts = 0;

  const run = (number: number): Promise<void> => {
    const process = fork(number);
    const startedAt = clock();
    const ended = new Promise<void>((resolve) => process.onExit(() => resolve()));
    running.set(number, { process, ended });
    return new Promise((resolve, reject) => {
      const identity = { number, pid: process.pid };
      const onReady = (value: unknown) => {
        joined.set(number, worker);
        ready.set(number, worker);
        events.onReady?.(worker, value);
        resolve();
      };
      const onJoin = () => void joined.set(number, worker);
      const peer = createPeer(process, (name) =>
        name === 'ready' ? onReady : name === 'join' ? onJoin : handlerOf(name, identity),
      );
      const worker: Worker = { ...identity, peer };
      process.onExit((code, signal) => {
        ready.delete(number);
        joined.delete(number);
        running.delete(number);
        events.onEnd?.(worker);
        const cause = signal ?? `exit code ${code}`;
        reject(new Error(`worker ${number} ended with ${cause}`));
        if (!stopping.signal.aborted) void replace(worker, cause, clock() - startedAt);
      });
    });
  };

  const replace = async (worker: Worker, cause: string, ranMs: number) => {
    const { number } = worker;
    restarts += 1;
    const before = ranMs >= BACK_OFF.stableMs ? 0 : (crashes.get(number) ?? 0);
    crashes.set(number, before + 1);
    const delayMs = Math.min(BACK_OFF.firstMs * 2 ** Math.min(before, 20), BACK_OFF.longestMs);
    events.onCrash?.(worker, cause, delayMs);
    await wait(delayMs, undefined, { signal: stopping.signal }).catch(() => undefined);
    if (stopping.signal.aborted) return;
    // If the replacement also crashes, its exit triggers the next replacement.
    await run(number).catch(() => undefined);
  };

  return {
    async start() {
      // The first worker is started on its own, so that the reason is reported only once if no worker can start.
      await run(1);
      const others = Array.from({ length: count - 1 }, async (_, index) => run(index + 2));
      const failed = (await Promise.allSettled(others)).find((one) => one.status === 'rejected');
      if (failed !== undefined) throw failed.reason;
    },
    ready: () => [...ready.values()].toSorted((one, other) => one.number - other.number),
    joined: () => [...joined.values()],
    restarts: () => restarts,
    async callAll(name, value, timeoutMs) {
      const results = await Promise.allSettled(
        [...ready.values()].map(async ({ peer }) => peer.call(name, value, timeoutMs)),
      );
      return results.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
    },
    async stop(graceMs) {
      stopping.abort();
      const timer = setTimeout(() => {
        for (const { process } of running.values()) process.kill('SIGKILL');
      }, graceMs);
      const all = [...running.values()];
      for (const { peer } of ready.values()) peer.call('stop', undefined, graceMs).catch(() => undefined);
      const isReady = new Set(ready.keys());
      for (const [number, { process }] of running) if (!isReady.has(number)) process.kill('SIGKILL');
      await Promise.all(all.map(async ({ ended }) => ended));
      clearTimeout(timer);
    },
  };
}

import type { Clock } from '../lib/clock.ts';
import type { ChangeListener, ChangeLog, LogPosition, SharedChange } from '../model/change-log.ts';
import type { Peer } from './ipc-peer.ts';
import type { Worker } from './supervise-workers.ts';

/** A change with its number, as sent to the workers by the primary process. */
interface NumberedChange {
  readonly number: number;
  readonly change: SharedChange;
  /** The number of pages removed by the other workers. */
  readonly pages?: number;
}

/** The log in the primary process. It numbers the changes of all processes. */
export interface PrimaryChangeLog extends ChangeLog {
  /**
   * Appends a worker's change. Resolves when each of the other workers has applied the change or has failed to apply
   * it in time.
   */
  appendFrom(change: SharedChange, worker: number): Promise<NumberedChange>;
  /** Returns the changes that a worker must apply even if it starts after they are made. */
  lasting(): readonly NumberedChange[];
  /** Sets the primary process's own listener. */
  listen(listener: ChangeListener): void;
}

/**
 * The time, in milliseconds, within which a worker must apply a change. A worker that takes longer is probably about to
 * exit.
 */
const APPLY_MS = 2_000;
/** The lineage of the log. It never changes, because the primary process outlives every worker and has a single log. */
const LINEAGE = 'primary';

/** Creates the log in the primary process. `workers` returns all workers that have joined. */
export function createPrimaryChangeLog(workers: () => readonly Worker[], clock: Clock): PrimaryChangeLog {
  let listener: ChangeListener | undefined;
  let number = 0;
  /**
   * The demotions of operations. A worker that starts later must apply them. A new worker needs no other changes,
   * because it has no stored pages or credentials to remove.
   */
  const demotions = new Map<string, NumberedChange>();
  const append = async (change: SharedChange, from?: number) => {
    number += 1;
    const given: NumberedChange = { number, change };
    listener?.apply(change, number, from === undefined);
    if (change.kind === 'demote') demotions.set(change.operation, given);
    const others = workers().filter((worker) => worker.number !== from);
    const removed = await Promise.allSettled(others.map(async ({ peer }) => peer.call('change', given, APPLY_MS)));
    const pages = removed.reduce((sum, one) => sum + (one.status === 'fulfilled' ? Number(one.value ?? 0) : 0), 0);
    return { ...given, pages };
  };
  return {
    append: async (change) => (await append(change)).pages,
    appendFrom: append,
    lasting: () => [...demotions.values()],
    listen: (next) => {
      listener = next;
      listener.reset({ lineage: LINEAGE, number });
    },
    position: () => ({ lineage: LINEAGE, number }),
    syncedAt: clock,
    close: async () => undefined,
  };
}

/**
 * Creates the log in a worker. The channel delivers all messages in order and lasts as long as the worker, so the
 * worker cannot miss a change. `receive` applies a change that another process has appended.
 */
export function createWorkerChangeLog(
  primary: Peer,
  listener: ChangeListener,
  clock: Clock,
): ChangeLog & { receive(given: NumberedChange): number | void } {
  let position: LogPosition = { lineage: LINEAGE, number: 0 };
  const moveTo = (number: number) => {
    if (number > position.number) position = { lineage: LINEAGE, number };
  };
  return {
    async append(change) {
      // If the primary process has exited, this worker will also exit soon. It has already applied the change itself.
      const appended = await primary.call('append', change, APPLY_MS * 2).catch(() => undefined);
      if (appended === undefined) return undefined;
      const { number, pages } = appended as NumberedChange;
      listener.apply(change, number, true);
      moveTo(number);
      return pages;
    },
    receive({ number, change }) {
      moveTo(number);
      return listener.apply(change, number, false);
    },
    position: () => position,
    syncedAt: clock,
    close: async () => undefined,
  };
}

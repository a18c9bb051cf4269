import type { Clock } from '../lib/clock.ts';
import type { ChangeListener, ChangeLog, LogPosition } from '../model/change-log.ts';
import type { Peer } from './ipc-peer.ts';
import { APPLY_MS, LINEAGE, type NumberedChange } from './primary-change-log.ts';

/**
 * Creates the log in a worker. The channel delivers all messages in order and exists as long as the worker, so the
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
      // If the primary process has ended, this worker will also end soon, and it has already applied the change itself.
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

import type { SharedDocument } from '../redis/shared-document.ts';
import type { Peer } from './ipc-peer.ts';
import type { ChangedCopy, OwnerParts } from './primary-document.ts';

interface WorkerParts<T> extends OwnerParts<T> {
  readonly primary: Peer;
  readonly handlers: Record<string, (value: never) => unknown>;
}

/**
 * Opens the document in a worker. The worker uses the primary process's copy, and sends its own changes to that
 * process.
 */
export function openWorkerDocument<T>(parts: WorkerParts<T>): SharedDocument<T> {
  const { name, primary, handlers, current, adopt, merge, format, parse, versionOf = () => '' } = parts;
  /** The latest copy received from the primary process. Undefined before `start`. */
  let known: T | undefined;
  const receive = (text: string, base: T) => {
    const theirs = parse(text);
    // During a reload, some processes use the next version before others do.
    if (versionOf(theirs) !== versionOf(current())) return;
    const next = merge(base, current(), theirs);
    known = theirs;
    if (format(next) !== format(current())) adopt(next);
  };
  const send = async (base: T): Promise<boolean> => {
    const mine = current();
    try {
      const changed: ChangedCopy = { base: format(base), mine: format(mine) };
      receive((await primary.call(`document.${name}`, changed)) as string, mine);
      return true;
    } catch {
      // If the primary process has ended, this worker will also end soon.
      return false;
    }
  };
  handlers[`document.${name}`] = (text: string) => receive(text, known ?? current());
  return {
    async start() {
      known = current();
      await send(known);
    },
    async sync() {
      if (known === undefined) return false;
      const mine = current();
      // The contents of an earlier version's document are not changes to this version.
      const base = versionOf(known) === versionOf(mine) ? known : mine;
      if (known !== base) known = mine;
      else if (format(known) === format(mine)) return true;
      return send(base);
    },
    // Only the primary process makes decisions that affect all workers.
    takeTurn: () => Promise.resolve(undefined),
    close: () => undefined,
  };
}

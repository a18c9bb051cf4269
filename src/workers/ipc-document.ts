import type { DocumentParts, SharedDocument } from '../redis/shared-document.ts';
import type { Peer } from './ipc-peer.ts';
import type { Worker, WorkerIdentity } from './supervise-workers.ts';

/** The parts of a document that are defined by its owner. The document is sent to other processes as text. */
type OwnerParts<T> = Pick<DocumentParts<T>, 'name' | 'current' | 'adopt' | 'merge' | 'versionOf' | 'format' | 'parse'>;

/** A worker's change, as sent to the primary process: the worker's copy before and after the change. */
interface ChangedCopy {
  readonly base: string;
  readonly mine: string;
}

/**
 * The time, in milliseconds, within which a worker must adopt a new copy. A worker that takes longer is probably about
 * to exit.
 */
const ADOPT_MS = 2_000;

interface PrimaryParts<T> extends OwnerParts<T> {
  readonly workers: () => readonly Worker[];
  readonly handlers: Record<string, (value: never, worker: WorkerIdentity) => unknown>;
  /** The document that other gateways share with this gateway. Undefined if no state is shared. */
  readonly fleet: SharedDocument<T> | undefined;
}

/**
 * Opens the document in the primary process, which has the authoritative copy. `sync` resolves when every worker has
 * either adopted the new copy or failed to do so in time. It resolves to the result of sharing the document with the
 * other gateways.
 */
export function openPrimaryDocument<T>(parts: PrimaryParts<T>): SharedDocument<T> {
  const { name, workers, handlers, current, adopt, merge, format, parse, fleet, versionOf = () => '' } = parts;
  const push = async (except?: number) => {
    const text = format(current());
    const others = workers().filter(({ number }) => number !== except);
    await Promise.allSettled(others.map(async ({ peer }) => peer.call(`document.${name}`, text, ADOPT_MS)));
  };
  handlers[`document.${name}`] = async (changed: ChangedCopy, worker) => {
    const [base, mine] = [parse(changed.base), parse(changed.mine)];
    if (versionOf(mine) !== versionOf(current()) || changed.base === changed.mine) return format(current());
    const next = merge(base, mine, current());
    if (format(next) !== format(current())) {
      adopt(next);
      void fleet?.sync();
      await push(worker.number);
    }
    return format(current());
  };
  return {
    start: async () => fleet?.start(),
    async sync() {
      const [isShared] = await Promise.all([fleet?.sync(), push()]);
      return isShared ?? false;
    },
    takeTurn: async () => (fleet === undefined ? { commit: () => Promise.resolve(true) } : fleet.takeTurn()),
    close: () => fleet?.close(),
  };
}

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
    // During a reload, some processes use the next version of the document before others do.
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
      // If the primary process has exited, this worker will also exit soon.
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
      // If the known copy has an earlier version, the differences from it are not changes made by this worker.
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

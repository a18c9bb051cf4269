import { hash, randomUUID } from 'node:crypto';
import type { UploadClaims } from '../../gdpr/shared-uploads.ts';
import type { createUploadMemory } from '../../gdpr/upload-memory.ts';
import { createRevocations, type Revocations } from '../../identity/identity-fleet.ts';
import type { OpenedStore } from '../../ledger/ledger-store.ts';
import type { LedgerBatch } from '../../ledger/ledger-batch.ts';
import type { Clock } from '../../lib/clock.ts';
import type { ChangeListener, ChangeLog, SharedChange } from '../../model/change-log.ts';
import type { LedgerQuery } from '../../model/ledger-entry.ts';
import type { RateLimiter, Taken } from '../../pipeline/rate-limiter.ts';
import type { SharedDocument } from '../../redis/shared-document.ts';
import type { Peer } from '../../workers/ipc-peer.ts';
import { type PrimaryChangeLog, createWorkerChangeLog } from '../../workers/ipc-change-log.ts';
import { openPrimaryDocument, openWorkerDocument } from '../../workers/ipc-document.ts';
import type { Supervisor, WorkerIdentity } from '../../workers/supervise-workers.ts';
import type { OwnParts, SharedState } from './shared-state.ts';

/** The role of this process in a gateway that consists of several processes. */
export type ProcessRole = PrimaryRole | WorkerRole;

/** The role of the primary process, which owns the admin side and the ledger and serves no public requests. */
export interface PrimaryRole {
  readonly kind: 'primary';
  readonly workers: Pick<Supervisor, 'ready' | 'joined' | 'callAll' | 'restarts'>;
  readonly changes: PrimaryChangeLog;
  /** The functions that workers can call. The gateway adds more functions. */
  readonly handlers: Record<string, (value: never, worker: WorkerIdentity) => unknown>;
  /** Registers a listener that is called whenever a worker exits. */
  readonly onEnd: (listener: (worker: WorkerIdentity) => void) => void;
  /** Returns the address on which the workers listen. Undefined until the first worker is ready. */
  readonly publicAddress: () => { readonly host: string; readonly port: number } | undefined;
}

/** The role of a worker, which serves public requests. */
export interface WorkerRole {
  readonly kind: 'worker';
  readonly primary: Peer;
  /** The functions that the primary process can call. The gateway adds more functions. */
  readonly handlers: Record<string, (value: never) => unknown>;
}

/** The log of changes shared by the processes of a single gateway. It does not need Redis. */
export interface ProcessChanges {
  readonly changes: ChangeLog;
  readonly revocations: Revocations;
  /** Passes the changes made by all processes to a listener. */
  listen(listener: ChangeListener): void;
}

/** Connects a process to the log of changes that this gateway's processes share. */
export function shareWithProcesses(role: ProcessRole, clock: Clock): ProcessChanges {
  if (role.kind === 'primary') {
    const { changes, handlers } = role;
    handlers['append'] = (change: SharedChange, { number }) => changes.appendFrom(change, number);
    handlers['changes.lasting'] = changes.lasting;
    return { changes, revocations: revocationsOf(changes), listen: changes.listen };
  }
  const listeners: ChangeListener[] = [];
  const changes = createWorkerChangeLog(
    role.primary,
    {
      apply: (...given) => listeners.reduce((pages, one) => pages + (one.apply(...given) ?? 0), 0),
      reset: (position) => listeners.forEach((one) => one.reset(position)),
    },
    clock,
  );
  role.handlers['change'] = changes.receive;
  const revocations = revocationsOf(changes);
  listeners.push(revocations.listener);
  return { changes, revocations, listen: (listener) => void listeners.push(listener) };
}

/**
 * Creates the list of revocations that the processes of a single gateway share. No process can miss a revocation, so
 * verified credentials can always be trusted.
 */
function revocationsOf(changes: ChangeLog): Revocations {
  // No secret key is needed, because the hashes never leave the machine.
  const key = {
    id: () => 'processes',
    read: async () => undefined,
    hash: (...texts: readonly string[]) => hash('sha256', texts.join('\n')),
  };
  return createRevocations({ key, changes, mayTrust: () => true });
}

/**
 * Starts applying the primary process's state in a worker. Call this before the worker serves requests, but after
 * adding all functions that the primary process may call.
 */
export async function joinPrimary({ primary, handlers }: WorkerRole): Promise<void> {
  await primary.call('join');
  const receive = handlers['change'];
  // If Redis is configured, the changes arrive through the log in Redis.
  if (receive === undefined) return;
  for (const change of (await primary.call('changes.lasting')) as never[]) receive(change);
}

/**
 * Opens a document shared by all processes of this gateway and, if Redis is configured, by all gateways in the fleet.
 * In a fleet, only the primary process exchanges the document with the other gateways. Returns undefined if no state is
 * shared.
 */
export function openDocument<T>(
  { role, shared }: { readonly role: ProcessRole | undefined; readonly shared: SharedState | undefined },
  name: string,
  parts: OwnParts<T> & {
    /** Called before another gateway's version replaces the local copy, for example to log the change. */
    readonly onForeign: (next: T) => void;
  },
): SharedDocument<T> | undefined {
  const { adopt, onForeign } = parts;
  if (role?.kind === 'worker') return openWorkerDocument({ ...parts, name, ...role });
  const fleet = shared?.openDocument(name, {
    ...parts,
    adopt(next: T) {
      onForeign(next);
      adopt(next);
      if (role !== undefined) void document?.sync();
    },
  });
  const document =
    role === undefined
      ? fleet
      : openPrimaryDocument({ ...parts, name, workers: role.workers.joined, handlers: role.handlers, fleet });
  return document;
}

/** Lets workers claim uploads in the memory of the primary process. When a worker exits, its claims are released. */
export function serveUploadClaims(
  { handlers, onEnd }: PrimaryRole,
  { claim }: Pick<ReturnType<typeof createUploadMemory>, 'claim'>,
): void {
  const claimed = new Map<string, { readonly number: number; readonly finish: (status: number | undefined) => void }>();
  const finish = (id: string, status: number | undefined) => {
    claimed.get(id)?.finish(status);
    claimed.delete(id);
  };
  handlers['upload.claim'] = ({ id, key, force }: UploadClaim, { number }) => {
    const claimedUpload = claim(key, force);
    if (claimedUpload.verdict === 'duplicate') return claimedUpload.because;
    claimed.set(id, { number, finish: claimedUpload.finish });
    return undefined;
  };
  handlers['upload.finish'] = ({ id, status }: FinishedUpload) => finish(id, status);
  onEnd((worker) => {
    for (const [id, { number }] of claimed) if (number === worker.number) finish(id, undefined);
  });
}

interface UploadClaim {
  readonly id: string;
  readonly key: string;
  readonly force: boolean;
}
interface FinishedUpload {
  readonly id: string;
  readonly status: number | undefined;
}

/** Returns the functions that a worker uses to claim uploads in the primary process. */
export function uploadClaimsOfPrimary({ primary }: WorkerRole): UploadClaims {
  return {
    async claim(key, force) {
      const id = randomUUID();
      const because = await primary.call('upload.claim', { id, key, force } satisfies UploadClaim);
      if (because === 'in flight' || because === 'accepted') return { verdict: 'duplicate', because };
      return {
        verdict: 'first',
        finish: (status) =>
          void primary.call('upload.finish', { id, status } satisfies FinishedUpload).catch(() => undefined),
      };
    },
  };
}

/**
 * How long a worker waits for a response from the primary process, in milliseconds. If none arrives, the worker uses
 * its own counts.
 */
const BUDGET_MS = 250;

/** Lets workers draw on the rate-limit budgets in the primary process. */
export function serveBudgets({ handlers }: PrimaryRole, limiter: RateLimiter): void {
  handlers['budget'] = async ({ rule, budget }: { rule: string; budget: string }) => limiter.take(rule, budget);
}

/** Returns the function that a worker calls to draw on the rate-limit budgets in the primary process. */
export function budgetsOfPrimary({ primary }: WorkerRole): (rule: string, budget: string) => Promise<Taken> {
  return async (rule, budget) => {
    const taken = await primary.call('budget', { rule, budget }, BUDGET_MS);
    // During a reload, the primary process might not have the rate-limit rule yet, or might have removed it already.
    if (taken === undefined) throw new Error(`${rule} is not a rule of the primary process`);
    return taken as Taken;
  };
}

/** Gives workers access to the ledger's store, which only the primary process opens. */
export function serveLedgerStore({ handlers }: PrimaryRole, { store, fingerprints, callerKey }: OpenedStore): void {
  handlers['ledger.open'] = () => ({ fingerprints, callerKey });
  handlers['ledger.write'] = (batch: LedgerBatch) => store.write(batch);
  handlers['ledger.read'] = ({ query, takenAt }: { query: LedgerQuery; takenAt: number }) => store.read(query, takenAt);
}

/** Opens the ledger's store in a worker. The primary process writes the worker's batches. */
export async function openLedgerOfPrimary({ primary }: WorkerRole): Promise<OpenedStore> {
  const opened = (await primary.call('ledger.open')) as Pick<OpenedStore, 'fingerprints' | 'callerKey'>;
  return {
    ...opened,
    store: {
      write: (batch) => primary.call('ledger.write', batch) as ReturnType<OpenedStore['store']['write']>,
      read: (query, takenAt) =>
        primary.call('ledger.read', { query, takenAt }) as ReturnType<OpenedStore['store']['read']>,
      close: async () => undefined,
    },
  };
}

import type { LedgerQuery, LedgerSnapshot } from '../../model/ledger-snapshot.ts';
import type { LedgerBatch } from '../ledger-batch.ts';
import type { StoreState } from '../ledger-store.ts';
import type { FileLimits } from './sqlite-file.ts';

/** What the thread of the ledger is started with. */
export interface WorkerStart {
  readonly path: string;
  readonly limits: FileLimits;
  /** Under which callers are counted in tables that have to be made. */
  readonly callerKey?: string;
}

/** What the thread of the ledger is asked. */
export type WorkerTask =
  | { readonly kind: 'write'; readonly batch: LedgerBatch }
  | { readonly kind: 'read'; readonly query: LedgerQuery; readonly takenAt: number }
  | { readonly kind: 'close' };

/** A task with the number that its answer carries. */
export type WorkerRequest = WorkerTask & { readonly id: number };

/** What the thread of the ledger answers. */
export type WorkerAnswer =
  | { readonly id: number; readonly result: StoreState | LedgerSnapshot | undefined }
  | { readonly id: number; readonly failure: string };

import type { InventoryQuery, PageInventory } from '../cache/page-inventory.ts';
import type { Settings } from '../config/settings.ts';
import type { Ladder } from '../ladder/create-ladder.ts';
import type { Clock } from '../lib/clock.ts';
import type { AcceptedViolation, Baseline } from '../model/ledger-entry.ts';
import type { LedgerReader } from '../model/ledger-snapshot.ts';
import type { Operation } from '../model/operation.ts';
import type { PermissionMatrix } from '../permissions/permission-matrix.ts';
import type { TrafficHistory } from '../telemetry/traffic-history.ts';
import type { ReferenceSources } from './api-docs/create-api-docs-router.ts';

/** The current state of the upstream as shown by the console. */
export interface UpstreamState {
  readonly inFlight: number;
  readonly queued: number;
  readonly circuit: 'closed' | 'open' | 'half-open';
  readonly openConnections: number;
}

/** The store of accepted violations; every read returns the current contents. */
interface BaselineStore {
  /** The file name that is shown to operators. */
  readonly file: string;
  read(): Promise<Baseline> | Baseline;
  /** Adds an accepted violation, or replaces the one with the same fingerprint. */
  accept(accepted: AcceptedViolation): Promise<void> | void;
}

/** The sources and controls of the console, provided by the assembly. */
export interface ConsoleSources {
  readonly clock: Clock;
  readonly version: string;
  readonly contractVersion: string;
  /** Epoch milliseconds. */
  readonly startedAt: number;
  readonly settings: Settings;
  readonly operations: readonly Pick<Operation, 'id' | 'method' | 'path' | 'summary' | 'row'>[];
  readonly readiness: () => { readonly ready: boolean; readonly reasons: readonly string[] };
  readonly traffic: TrafficHistory;
  readonly ledger: LedgerReader;
  /** Undefined if no baseline is configured. */
  readonly baseline: BaselineStore | undefined;
  readonly ladder: Pick<Ladder, 'rows' | 'lift'>;
  readonly matrix: () => PermissionMatrix;
  /** Explains in printable lines what would happen to a request. */
  readonly explain: (request: { method: string; target: string; as?: string }) => readonly string[];
  readonly inventory: (query: InventoryQuery) => PageInventory;
  /** Purges the stored responses with one of the tags, or all of them; returns their number. */
  readonly purge: (tags: readonly string[] | 'all') => number;
  readonly upstream: () => UpstreamState;
  /** The sources of the API docs. */
  readonly reference: ReferenceSources;
  readonly onError: (error: unknown) => void;
}

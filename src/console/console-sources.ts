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

/** What the console shows of the upstream's state at this instant. */
export interface UpstreamState {
  readonly inFlight: number;
  readonly queued: number;
  readonly circuit: 'closed' | 'open' | 'half-open';
  readonly openConnections: number;
}

/** Where accepted violations are kept: read again whenever they are asked for. */
export interface BaselineStore {
  /** The file as it is named to people. */
  readonly file: string;
  read(): Promise<Baseline> | Baseline;
  /** Adds one, or takes its place where the fingerprint is accepted already. */
  accept(accepted: AcceptedViolation): Promise<void> | void;
}

/** Everything that the console reads and does, handed in by the assembly. */
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
  /** Undefined where no baseline is configured. */
  readonly baseline: BaselineStore | undefined;
  readonly ladder: Pick<Ladder, 'rows' | 'lift'>;
  readonly matrix: () => PermissionMatrix;
  /** What would become of a request, as printable lines. */
  readonly explain: (request: { method: string; target: string; as?: string }) => readonly string[];
  readonly inventory: (query: InventoryQuery) => PageInventory;
  /** Drops pages by tag or all; answers how many went. */
  readonly purge: (tags: readonly string[] | 'all') => number;
  readonly upstream: () => UpstreamState;
  /** What the API reference shows, and where its form sends. */
  readonly reference: ReferenceSources;
  readonly onError: (error: unknown) => void;
}

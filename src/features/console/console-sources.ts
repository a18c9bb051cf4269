import type { IncomingMessage } from 'node:http';
import type { InventoryQuery, PageInventory } from '../../engine/cache/page-inventory.ts';
import type { ReloadResult } from '../../engine/config/load-settings.ts';
import type { Settings } from '../../engine/config/settings.ts';
import type { Clock } from '../../lib/clock.ts';
import type { AcceptedViolations } from '../../engine/model/acceptance.ts';
import type { LedgerEntry, LedgerReader } from '../../engine/model/ledger-entry.ts';
import type { Operation } from '../../engine/model/operation.ts';
import type { PermissionMatrix } from '../../engine/permissions/permission-matrix.ts';
import type { Instance } from '../../engine/sharing/sharing.ts';
import type { ContractPlace } from '../../engine/contract/contract-places.ts';
import type { TrafficHistory } from './traffic-history.ts';
import type { OperatorAction } from '../../engine/model/operator-action.ts';
import type { UpstreamStats } from '../../engine/upstream/upstream-stats.ts';
import type { GateHistory } from '../../engine/upstream/upstream-gate.ts';
import type { UpstreamHealth } from '../../engine/upstream/upstream-health.ts';
import type { ReferenceSources } from './api-docs/create-api-docs-router.ts';

/** The upstream's current state, as shown in the console. */
export type UpstreamState = Pick<UpstreamStats, 'inFlight' | 'queued' | 'circuit' | 'openConnections'>;

/** The connection to the other gateways, as shown in the console. */
export interface SharedStatus {
  readonly available: boolean;
  readonly unsyncedSeconds: number;
}

/** The data and controls that the assembly provides to the console. */
export interface ConsoleSources {
  readonly clock: Clock;
  readonly version: string;
  readonly contractVersion: string;
  /** When the gateway started, in epoch milliseconds. */
  readonly startedAt: number;
  readonly settings: Settings;
  readonly operations: readonly Pick<Operation, 'id' | 'method' | 'path' | 'summary' | 'row'>[];
  readonly readiness: () => { readonly ready: boolean; readonly reasons: readonly string[] };
  readonly traffic: TrafficHistory;
  readonly ledger: LedgerReader;
  /** The baseline. Undefined if none is configured. Each read returns the current entries. */
  readonly baseline: Pick<AcceptedViolations, 'file' | 'read' | 'accept' | 'withdraw'> | undefined;
  /** Returns the location in the contract that a ledger entry's violation refers to. */
  readonly placeOf: (entry: LedgerEntry) => ContractPlace;
  /** Returns the number of levels and other settings that differ from the configuration. */
  readonly changes: () => number;
  /** Returns the latest actions of operators on all gateways, oldest first. */
  readonly actions: () => Promise<readonly OperatorAction[]>;
  readonly matrix: () => PermissionMatrix;
  /** Returns lines that explain how the gateway would handle a request. A body is sent as JSON. */
  readonly explain: (request: {
    method: string;
    target: string;
    as?: string;
    body?: string;
  }) => Promise<readonly string[]>;
  readonly inventory: (query: InventoryQuery) => PageInventory | Promise<PageInventory>;
  /** Purges the stored responses with any of the tags, or all stored responses. Returns the number purged. */
  readonly purge: (tags: readonly string[] | 'all') => number | Promise<number>;
  readonly upstream: () => UpstreamState;
  /** Rereads the configuration and uses it for new requests. */
  readonly reload: () => Promise<ReloadResult>;
  /** Returns the upstream's health as `/upstreamz` reports it. */
  readonly upstreamHealth: () => UpstreamHealth;
  /** Returns the state of the connection to Redis. Undefined if Redis is not configured. */
  readonly shared?: (() => SharedStatus | undefined) | undefined;
  /** Returns the gateways that share state with this one. */
  readonly instances?: (() => readonly Instance[]) | undefined;
  /** Returns the upstream's last failure and the circuit's most recent changes. */
  readonly upstreamHistory: () => GateHistory;
  /** The sources of the API docs. */
  readonly reference: ReferenceSources;
  /** Called with an error that a response does not describe, and with the request that failed. */
  readonly onError: (error: unknown, request: IncomingMessage) => void;
}

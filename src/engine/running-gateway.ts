import type { Duplex } from 'node:stream';
import type { InventoryQuery, PageInventory } from './cache/page-inventory.ts';
import type { ReloadResult } from './config/load-settings.ts';
import type { Readiness } from './http/admin-app.ts';
import type { AcceptedViolations } from './model/acceptance.ts';
import type { Checks } from './model/checks.ts';
import type { AccountAccess } from './permissions/compile-permissions.ts';
import type { PermissionMatrix } from './permissions/permission-matrix.ts';
import type { ExplainRequest } from './pipeline/dry-run.ts';
import type { ExplainStep } from './pipeline/explain.ts';
import type { UpstreamStats } from './upstream/upstream-stats.ts';
import type { GateHistory } from './upstream/upstream-gate.ts';
import type { UpstreamHealth } from './upstream/upstream-health.ts';

/** The gateway at work, as operators see and control it. After a reload, everything reflects the new configuration. */
export interface RunningGateway {
  /** When the gateway started, in epoch milliseconds. */
  readonly startedAt: number;
  readiness(): Readiness;
  /** Returns whether the gateway has begun to close. Whatever lasts long should then end. */
  isClosing(): boolean;
  /** Rereads the configuration and uses it for new requests. */
  reload(): Promise<ReloadResult>;
  /** Returns the levels in force for an operation. */
  checksOf(operation: string): Checks;
  /** Returns the operations that each role and each account may use. */
  permissions(): PermissionMatrix;
  /** Returns the names of the authentication schemes that are accepted, in the order in which they are offered. */
  schemes(): readonly string[];
  /** Returns what the account of a verified caller grants. */
  accountAccess(name: string): AccountAccess;
  /** Returns the steps that explain how the gateway would handle a request, without effects. */
  explain(request: ExplainRequest): Promise<readonly ExplainStep[]>;
  upstreamStats(): UpstreamStats;
  /** Returns the upstream's health as `/upstreamz` reports it. */
  upstreamHealth(): UpstreamHealth;
  /** Returns the upstream's last failure and the circuit's most recent changes. */
  upstreamHistory(): GateHistory;
  /** Describes the stored responses. */
  inventory(query: InventoryQuery): PageInventory | Promise<PageInventory>;
  /** Purges the stored responses with any of the tags, or all stored responses. Returns the number purged. */
  purge(tags: readonly string[] | 'all'): number | Promise<number>;
  /** Returns the accepted violations, whose changes apply to all gateways. Undefined if violations cannot be accepted. */
  acceptance(): Pick<AcceptedViolations, 'file' | 'read' | 'accept' | 'withdraw'> | undefined;
  /** Returns the address at which the process can reach its own public side. Undefined if it is not listening. */
  publicAddress(): PublicAddress | undefined;
}

/** The parts of the gateway that the program controls. They stay the same through reloads. */
export interface GatewayControls extends Pick<RunningGateway, 'readiness' | 'isClosing' | 'publicAddress'> {
  reload(trigger: 'admin' | 'console'): Promise<ReloadResult>;
}

/** The address of the gateway's own public listener. */
export interface PublicAddress {
  readonly host: string;
  readonly port: number;
  /** Connects to the listener from within the process. Set if the listener uses TLS. */
  readonly connect?: () => Duplex;
}

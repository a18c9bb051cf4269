/** What a gateway reports about itself. `startedAt` is in epoch milliseconds. */
export interface InstanceFacts {
  readonly name: string;
  readonly version: string;
  readonly release: string;
  readonly mode: string;
  /** The contract version, and digests of the configuration and of the accepted violations. */
  readonly contract: string;
  readonly configuration: string;
  readonly baseline: string;
  readonly startedAt: number;
  readonly ready: boolean;
}

/** A gateway in the fleet. `silentSeconds` is the time since the gateway's last report. */
export type Instance = InstanceFacts & { readonly silentSeconds: number };

/** The list of all gateways that share a Redis server and use the same key prefix. */
export interface Instances {
  /** Starts reporting these facts about this gateway at regular intervals. */
  start(facts: () => InstanceFacts): void;
  /**
   * Returns the gateways, sorted by name. The list is empty until Redis is reached for the first time, and during long
   * Redis outages.
   */
  list(): readonly Instance[];
  /** Removes this gateway from the list. */
  close(): Promise<void>;
}

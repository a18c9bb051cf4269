import type { Clock } from '../../lib/clock.ts';
import type { BaselineChange } from './change-log.ts';
import type { Fault } from './fault.ts';
import { type AcceptedViolation, type Baseline, isOutage, type LedgerEntry } from './ledger-entry.ts';
import type { Service } from './service.ts';
import type { KindOf } from './violation-kind.ts';
import type { Violation } from './violation.ts';

/** The violations that operators have accepted. Undefined in its place means that none is accepted. */
export interface AcceptedViolations {
  /** Returns all entries, including expired ones. */
  read(): Baseline;
  /** Returns whether an unexpired entry accepts this fingerprint. `now` is in epoch milliseconds. */
  isAccepted(fingerprint: string, now: number): boolean;
  /** Calls `listener` after every change to the accepted violations. */
  onChange(listener: () => void): void;
  /** The file that contains the entries. */
  readonly file: string;
  /** Adds an entry to the file or updates the existing entry. The change takes effect immediately. */
  accept(accepted: AcceptedViolation): Promise<void>;
  /**
   * Applies a change made by another gateway or process. The change takes effect immediately. If it cannot be written to
   * the file, the promise is rejected and the change lasts only until the process ends.
   */
  adopt(change: Pick<BaselineChange, 'fingerprint' | 'accepted'>): Promise<void>;
  /** Returns what operators should know when the gateway starts or reloads. `now` is in epoch milliseconds. */
  warnings(now: number): readonly Fault[];
  /** Removes an entry from the file. The change takes effect immediately. Returns false if there is no such entry. */
  withdraw(fingerprint: string): Promise<boolean>;
}

/** Returns whether a recorded violation is accepted. */
export type IsAccepted = (entry: Pick<LedgerEntry, 'fingerprint' | 'check' | 'status'>) => boolean;

/** Looks up violations among the accepted ones. */
export interface Acceptance {
  /** Returns whether a violation is accepted. `status` is the upstream's response status. */
  readonly isAccepted: (operation: string | undefined, status: number | undefined, violation: Violation) => boolean;
  /** Returns whether a ledger entry is accepted. */
  readonly accepts: IsAccepted;
}

/** Creates the functions that look up violations. An outage is never accepted. */
export function createAcceptance(accepted: AcceptedViolations | undefined, kindOf: KindOf, clock: Clock): Acceptance {
  const accepts: IsAccepted = (entry) =>
    accepted !== undefined && !isOutage(entry) && accepted.isAccepted(entry.fingerprint, clock());
  const isAccepted: Acceptance['isAccepted'] = (operation, upstreamStatus, violation) => {
    if (accepted === undefined) return false;
    const { fingerprint, status } = kindOf(operation, upstreamStatus, violation);
    return accepts({ fingerprint, check: violation.check, status });
  };
  return { accepts, isAccepted };
}

/** What lookups of accepted violations use. */
export interface AcceptanceNeeds {
  readonly start: { readonly baseline: AcceptedViolations | undefined };
  readonly kindOf: KindOf;
  readonly clock: Clock;
}

/** The functions that look up violations among those that were read last. */
export const acceptance: Service<Acceptance, AcceptanceNeeds> = {
  dependsOn: ({ start: { baseline } }) => baseline,
  start: ({ start: { baseline }, kindOf, clock }) => createAcceptance(baseline, kindOf, clock),
};

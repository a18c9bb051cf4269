import { endOfDay } from '../ledger/day.ts';
import type { AcceptedViolation, Baseline } from '../model/baseline.ts';
import type { LedgerEntry } from '../model/ledger-entry.ts';
import type { LedgerSnapshot } from '../model/ledger-snapshot.ts';

/** One violation as the list shows it. */
export interface ViolationRow extends Omit<LedgerEntry, 'samples'> {
  /** Share of the operation's requests that it was seen in, 0 to 1; undefined where no traffic is known. */
  readonly share: number | undefined;
  /** Set where it is in the baseline. */
  readonly accepted: (AcceptedViolation & { readonly expired: boolean }) | undefined;
}

/**
 * Joins the ledger's entries with the traffic they were seen in and with what is accepted. Counts and shares are those
 * of one release where one is named, as in a report on it.
 */
export function violationRows(
  snapshot: LedgerSnapshot,
  baseline: Baseline | undefined,
  now: number,
  release = '',
): ViolationRow[] {
  const requests = new Map<string | undefined, number>();
  for (const one of snapshot.traffic)
    if (release === '' || one.release === release)
      requests.set(one.operation, (requests.get(one.operation) ?? 0) + one.requests);
  const accepted = new Map((baseline?.accepted ?? []).map((one) => [one.fingerprint, one]));
  return snapshot.entries.map(({ samples: _samples, ...entry }) => {
    const all = requests.get(entry.operation) ?? 0;
    const count = release === '' ? entry.count : (entry.releases[release] ?? 0);
    const known = accepted.get(entry.fingerprint);
    return {
      ...entry,
      count,
      share: all === 0 ? undefined : Math.min(1, count / all),
      accepted: known && { ...known, expired: known.expires !== undefined && endOfDay(known.expires) <= now },
    };
  });
}

/** Whether a violation is new to the team: not accepted, or not any more. */
export function isNew({ accepted }: Pick<ViolationRow, 'accepted'>): boolean {
  return accepted === undefined || accepted.expired;
}

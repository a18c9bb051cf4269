import { endOfDay } from '../ledger/baseline/parse-baseline.ts';
import type { AcceptedViolation, Baseline, LedgerEntry } from '../model/ledger-entry.ts';
import type { LedgerSnapshot } from '../model/ledger-snapshot.ts';

/** One violation in the list. */
export interface ViolationRow extends Omit<LedgerEntry, 'samples'> {
  /** The share of the operation's requests with this violation, 0 to 1; undefined if no traffic is known. */
  readonly share: number | undefined;
  /** Set if the violation is in the baseline. */
  readonly accepted: (AcceptedViolation & { readonly expired: boolean }) | undefined;
}

/**
 * Joins the ledger's entries with their traffic and with the baseline. If a release is given, counts and shares cover
 * only that release, as in its report.
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

/** Returns whether a violation is not accepted, or no longer accepted. */
export function isNew({ accepted }: Pick<ViolationRow, 'accepted'>): boolean {
  return accepted === undefined || accepted.expired;
}

/** A filter for violations; empty values match all. */
export interface ViolationFilter {
  readonly category: string;
  readonly direction: string;
  readonly operation: string;
  readonly check: string;
  readonly release: string;
  /** `new`, `accepted` or empty. */
  readonly state: string;
  /** Text to search for in a row, case-insensitively. */
  readonly text: string;
}

/** The filter value for undocumented paths. */
const OUTSIDE = 'undocumented';

/** For each filter value, the number of rows that match it and all other filters. */
type Facets = Readonly<Record<Facet, Readonly<Record<string, number>>>>;

type Facet = 'category' | 'direction' | 'operation' | 'check' | 'state';
const FACETS: readonly Facet[] = ['category', 'direction', 'operation', 'check', 'state'];

/** Returns the rows that match all filters, and the counts for the filter choices. */
export function filterViolations(
  rows: readonly ViolationRow[],
  filter: ViolationFilter,
): { readonly rows: readonly ViolationRow[]; readonly facets: Facets } {
  const passes = (row: ViolationRow, without?: Facet) =>
    FACETS.every((facet) => facet === without || filter[facet] === '' || valueOf(row, facet) === filter[facet]) &&
    (filter.release === '' || Object.hasOwn(row.releases, filter.release)) &&
    holdsText(row, filter.text.toLowerCase());
  const facets = FACETS.map((facet) => {
    const counts: Record<string, number> = {};
    for (const row of rows) {
      const value = valueOf(row, facet);
      if (passes(row, facet)) counts[value] = (counts[value] ?? 0) + 1;
    }
    return [facet, counts] as const;
  });
  return { rows: rows.filter((row) => passes(row)), facets: Object.fromEntries(facets) as Record<Facet, never> };
}

function valueOf(row: ViolationRow, facet: Facet): string {
  if (facet === 'state') return isNew(row) ? 'new' : 'accepted';
  if (facet === 'operation') return row.operation ?? OUTSIDE;
  return row[facet];
}

function holdsText(row: ViolationRow, text: string): boolean {
  if (text === '') return true;
  const { at, message, keyword, schemaPath, fingerprint, operation = OUTSIDE } = row;
  return [at, message, keyword, schemaPath, fingerprint, operation].some((part) => part.toLowerCase().includes(text));
}

import { isNew, type ViolationRow } from './violation-rows.ts';

/** What violations are wanted; an empty text wants all. */
export interface ViolationFilter {
  readonly category: string;
  readonly direction: string;
  readonly operation: string;
  readonly check: string;
  readonly release: string;
  /** `new`, `accepted` or empty. */
  readonly state: string;
  /** In any of the texts of a row, without case. */
  readonly text: string;
}

/** What the operation of everything outside the contract is called in filters. */
export const OUTSIDE = 'undocumented';

/** How many rows each value of a filter would leave, the other filters standing. */
export type Facets = Readonly<Record<Facet, Readonly<Record<string, number>>>>;

type Facet = 'category' | 'direction' | 'operation' | 'check' | 'state';
const FACETS: readonly Facet[] = ['category', 'direction', 'operation', 'check', 'state'];

/** The rows that pass every filter, and the counts beside the choices. */
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

import { canonicalName } from '../../engine/model/caller-name.ts';
import type { SideRequest } from '../../engine/pipeline/sides.ts';
import { stableNumbers } from '../../lib/stable-numbers.ts';
import type { Decision } from './cutover-state.ts';
import { type CutoverOptions, EVERY, UNDOCUMENTED } from './options.ts';

/** The operations that take part, with the share of the callers whom the new server serves, from 0 to 1. */
export interface Shares {
  /** Undefined for an operation that does not take part. */
  of(operation: string): number | undefined;
  /** The lowest and the highest share of what reads. Undefined if nothing that reads takes part. */
  readonly reads: { readonly lowest: number; readonly highest: number } | undefined;
  /** True if the old server serves everybody. */
  readonly isReturned: boolean;
}

/** An operation as the cut-over sees it. */
export interface KnownOperation {
  readonly id: string;
  readonly method: string;
}

/** Returns the shares under a decision. What was set while Portico runs replaces what is configured. */
export function sharesUnder(
  { operations: configured }: Pick<CutoverOptions, 'operations'>,
  operations: readonly KnownOperation[],
  { phase, shares }: Pick<Decision, 'phase' | 'shares'>,
): Shares {
  const isReturned = phase === 'returned';
  const all = [...operations, { id: UNDOCUMENTED, method: 'GET' }];
  const found = new Map(
    all.flatMap(({ id, method }) => {
      const own = configured[id];
      const every = method === 'GET' && id !== UNDOCUMENTED ? configured[EVERY] : undefined;
      if (own === undefined && every === undefined) return [];
      if (method !== 'GET' && own?.writes !== true) return [];
      const share = shares[id] ?? own?.share ?? shares[EVERY] ?? every?.share ?? 0;
      return [[id, isReturned ? 0 : share / 100] as const];
    }),
  );
  const reads = all.flatMap(({ id, method }) => (method === 'GET' ? (found.get(id) ?? []) : []));
  return {
    of: (operation) => found.get(operation),
    reads: reads.length === 0 ? undefined : { lowest: Math.min(...reads), highest: Math.max(...reads) },
    isReturned,
  };
}

/** Returns a share in percent, without the errors of binary fractions. */
export const percentOf = (share: number): number => Math.round(share * 1e8) / 1e6;

/** Who sends a request, as the cut-over tells callers apart. */
export interface Caller {
  /** Identifies the caller: a name in its canonical form, or an address. */
  readonly key: string;
  /** A number x (0 ≤ x < 1) that is always the same. The new server serves those below the share. */
  readonly number: number;
  /** The server that a list names, if one does. */
  readonly listed: 'old' | 'new' | undefined;
}

/**
 * Returns the function that tells callers apart. All spellings of a name are one caller, and callers without a name are
 * told apart by their addresses. The number is the same for all operations, so a higher share only moves callers to the
 * new server, and nobody is between two servers for longer than the shares are.
 */
export function createCallers({
  seed,
  allow,
  deny,
}: Pick<CutoverOptions, 'seed' | 'allow' | 'deny'>): (request: Pick<SideRequest, 'arrival' | 'name'>) => Caller {
  const numberOf = stableNumbers(`portico cutover ${seed}`);
  const listed = new Map([
    ...allow.map((name) => [canonicalName(name), 'new'] as const),
    ...deny.map((name) => [canonicalName(name), 'old'] as const),
  ]);
  return ({ name, arrival }) => {
    if (name === undefined) {
      const key = `address ${arrival.clientAddress}`;
      return { key, number: numberOf(key), listed: undefined };
    }
    const canonical = canonicalName(name);
    const key = `name ${canonical}`;
    return { key, number: numberOf(key), listed: listed.get(canonical) };
  };
}

/** Returns whether the new server serves a caller at a share, unless the caller stays with a server. */
export const isMoved = ({ number, listed }: Caller, share: number): boolean =>
  listed === undefined ? number < share : listed === 'new';

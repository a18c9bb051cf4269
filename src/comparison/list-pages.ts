import { hash } from 'node:crypto';
import { alignByFacts, type ItemFacts } from './align.ts';
import type { DifferenceKind, EdgeItem } from './compare-values.ts';
import type { Identities } from './identities.ts';
import { ID, type Place } from './place.ts';

/** What one exchange shows of a list that has several pages. */
export interface SeenPage {
  /** Identifies the list: the operation, the caller and everything requested except the page. */
  readonly list: string;
  readonly page: number;
  /** Undefined if the response does not state it. */
  readonly pageCount: number | undefined;
  readonly edges: readonly SeenEdge[];
  readonly totals: { readonly place: Place; readonly old: number; readonly new: number } | undefined;
  /** The number of items that are certainly missing on the new server, less those that only it has. */
  readonly net: number;
}

/** An item at the edge of a page, and by what it is recognized. */
interface SeenEdge {
  readonly edge: Pick<EdgeItem, 'place' | 'side' | 'id' | 'isLive'>;
  /** The item in words that do not reveal it. */
  readonly described: string;
  readonly facts: () => ItemFacts;
}

/** A difference that only the whole list shows. `exchange` is the one in which it was first seen. */
export interface LateDifference<Exchange> {
  readonly kind: DifferenceKind;
  readonly place: Place;
  /** The values in words, or numbers. */
  readonly old: string | number;
  readonly new: string | number;
  /** The id of the item on its own server. Undefined for a number. */
  readonly id: string | undefined;
  readonly exchange: Exchange;
}

/** Nothing of the response but this is kept while an item waits for another page. */
interface Debt<Exchange> {
  readonly place: Place;
  readonly described: string;
  readonly facts: ItemFacts;
  readonly exchange: Exchange;
}

interface List<Exchange> {
  readonly onlyOld: Map<string, Debt<Exchange>>;
  readonly onlyNew: Map<string, Debt<Exchange>>;
  readonly pages: Set<number>;
  pageCount: number | undefined;
  totals: (NonNullable<SeenPage['totals']> & { readonly exchange: Exchange }) | undefined;
  net: number;
}

/** What is known of lists, as plain data. Places and exchanges are numbers. */
export interface SavedLists {
  readonly lists: readonly {
    readonly list: string;
    readonly pages: readonly number[];
    readonly pageCount: number | null;
    readonly totals: {
      readonly place: number;
      readonly old: number;
      readonly new: number;
      readonly exchange: number;
    } | null;
    readonly net: number;
    readonly waiting: readonly {
      readonly place: number;
      readonly side: 'old' | 'new';
      readonly id: string;
      readonly described: string;
      readonly facts: readonly (readonly [string, string])[];
      readonly exchange: number;
    }[];
  }[];
  readonly undecided: number;
}

/** How places and exchanges become numbers. */
interface Numbers<Exchange> {
  readonly placeOf: (place: Place) => number;
  readonly exchangeOf: (exchange: Exchange) => number;
}

/** How numbers become places and exchanges again. */
interface Numbered<Exchange> {
  readonly placeAt: (number: number) => Place;
  readonly exchangeAt: (number: number) => Exchange;
}

/** If ids are known, items are recognized by them alone. */
const NO_FACTS: ItemFacts = new Map();

/** Returns facts of which nothing can be read, but which are equal for equal items. */
const sealed = (facts: ItemFacts): ItemFacts =>
  new Map([...facts].map(([name, text]) => [name, hash('sha256', text, 'base64url').slice(0, 16)]));

const spaceOf = (place: Place) => place.member(ID).marks.identity ?? place.at;

/** The maximum numbers of lists, and of items, that wait for another page. */
const MAX_LISTS = 10_000;
const MAX_WAITING = 20_000;

/**
 * Follows lists over their pages. If two servers differ in one item, all later pages are shifted, and items with equal
 * sort keys may stand on either side of a page's end. An item at the edge of a page is therefore missing only if no other
 * page of the list has it.
 */
export function createListPages<Exchange>(ids: Identities) {
  const lists = new Map<string, List<Exchange>>();
  let waiting = 0;
  /** The items of which nobody can say whether they are missing. */
  let undecided = 0;
  const settle = (list: List<Exchange>): LateDifference<Exchange>[] => {
    pairLate(list);
    const found: LateDifference<Exchange>[] = [];
    const isWhole = list.pageCount !== undefined && list.pages.size >= list.pageCount;
    for (const [side, debts] of [
      ['old', list.onlyOld],
      ['new', list.onlyNew],
    ] as const)
      for (const [id, { place, described, exchange }] of debts) {
        if (!isWhole) {
          undecided += 1;
          continue;
        }
        list.net += side === 'old' ? 1 : -1;
        const [old, next] = side === 'old' ? [described, 'absent'] : ['absent', described];
        const isInstead = list.onlyOld.size > 0 && list.onlyNew.size > 0;
        const kind = isInstead ? 'other-item' : side === 'old' ? 'missing-item' : 'extra-item';
        found.push({ kind, place, old, new: next, id, exchange });
      }
    const { totals, net } = list;
    const missing = totals === undefined ? 0 : totals.old - totals.new;
    // Unless all pages are known, there can be more of the items that one server does not send.
    const follows = missing === net || (!isWhole && net !== 0 && missing / net > 1);
    if (totals !== undefined && !follows) found.push({ ...totals, kind: 'count', id: undefined });
    return found;
  };
  /** Pairs items whose ids became known later, or that are alike. */
  const pairLate = ({ onlyOld, onlyNew }: List<Exchange>) => {
    for (const [id, { place }] of onlyOld) {
      const next = ids.toNew(spaceOf(place), id);
      if (next !== undefined && onlyNew.delete(next)) onlyOld.delete(id);
    }
    if (ids.mode !== 'learned') return;
    const [left, right] = [[...onlyOld], [...onlyNew]];
    const found = alignByFacts(
      left.map(([, { facts }], at) => [at, facts]),
      right.map(([, { facts }], at) => [at, facts]),
    );
    for (const [x, y] of found) {
      onlyOld.delete(left[x]?.[0] ?? '');
      onlyNew.delete(right[y]?.[0] ?? '');
    }
  };
  return {
    /** Takes what one exchange shows. */
    see(page: SeenPage, exchange: Exchange): void {
      let list = lists.get(page.list);
      if (list === undefined) {
        if (lists.size >= MAX_LISTS) {
          undecided += page.edges.length + (page.totals === undefined ? 0 : 1);
          return;
        }
        list = {
          onlyOld: new Map(),
          onlyNew: new Map(),
          pages: new Set(),
          pageCount: undefined,
          totals: undefined,
          net: 0,
        };
        lists.set(page.list, list);
      }
      if (!list.pages.has(page.page)) list.net += page.net;
      list.pages.add(page.page);
      list.pageCount = page.pageCount ?? list.pageCount;
      list.totals ??= page.totals && { ...page.totals, exchange };
      for (const { edge, described, facts } of page.edges) {
        const { place, side, id, isLive } = edge;
        if (isLive) {
          undecided += 1;
          continue;
        }
        const [own, others] = side === 'old' ? [list.onlyOld, list.onlyNew] : [list.onlyNew, list.onlyOld];
        const other = side === 'old' ? ids.toNew(spaceOf(place), id) : ids.toOld(spaceOf(place), id);
        if (other !== undefined && others.delete(other)) {
          waiting -= 1;
          continue;
        }
        if (waiting >= MAX_WAITING) undecided += 1;
        else if (!own.has(id)) {
          own.set(id, { place, described, facts: ids.mode === 'learned' ? sealed(facts()) : NO_FACTS, exchange });
          waiting += 1;
        }
      }
    },
    /** Returns the differences that only the whole lists show. Called once, at the end. */
    settle(): readonly LateDifference<Exchange>[] {
      return [...lists.values()].flatMap(settle);
    },
    undecided: () => undecided,
    /** Returns everything as plain data, of which nothing about an item can be read but its id. */
    save({ placeOf, exchangeOf }: Numbers<Exchange>): SavedLists {
      return {
        undecided,
        lists: [...lists].map(([name, { pages, pageCount, totals, net, onlyOld, onlyNew }]) => ({
          list: name,
          pages: [...pages],
          pageCount: pageCount ?? null,
          totals:
            totals === undefined
              ? null
              : {
                  place: placeOf(totals.place),
                  old: totals.old,
                  new: totals.new,
                  exchange: exchangeOf(totals.exchange),
                },
          net,
          waiting: [
            ...Array.from(onlyOld, ([id, debt]) => ['old', id, debt] as const),
            ...Array.from(onlyNew, ([id, debt]) => ['new', id, debt] as const),
          ].map(([side, id, { place, described, facts, exchange }]) => ({
            place: placeOf(place),
            side,
            id,
            described,
            facts: [...facts],
            exchange: exchangeOf(exchange),
          })),
        })),
      };
    },
    /** Continues with what was saved. */
    restore(saved: SavedLists, { placeAt, exchangeAt }: Numbered<Exchange>): void {
      ({ undecided } = saved);
      for (const { list: name, pages, pageCount, totals, net, waiting: debts } of saved.lists) {
        const list: List<Exchange> = {
          onlyOld: new Map(),
          onlyNew: new Map(),
          pages: new Set(pages),
          pageCount: pageCount ?? undefined,
          totals:
            totals === null
              ? undefined
              : { ...totals, place: placeAt(totals.place), exchange: exchangeAt(totals.exchange) },
          net,
        };
        for (const { place, side, id, described, facts, exchange } of debts)
          list[side === 'old' ? 'onlyOld' : 'onlyNew'].set(id, {
            place: placeAt(place),
            described,
            facts: new Map(facts),
            exchange: exchangeAt(exchange),
          });
        waiting += debts.length;
        lists.set(name, list);
      }
    },
  };
}

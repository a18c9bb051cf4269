import { toObject } from '../../engine/contract/values.ts';
import type { ListChanges, Operation } from '../../engine/model/operation.ts';
import type { PlainObject } from '../../lib/plain-object.ts';
import { dataOf, selectorsOf, type Target, titleOf } from './event.ts';
import type { ReadItem } from './list-state.ts';

/** A list that is read again and again. */
export interface FollowedList {
  readonly operation: Operation;
  readonly changes: ListChanges;
  /**
   * True if nobody has asked for the list, and the contract says that not everybody sees the same of it. It is then no
   * fault if the account of the feed may not read it.
   */
  readonly isOptional: boolean;
}

/** Returns why a list cannot be followed, or undefined if it can. */
export function whyNotFollowed({ changes, paging, path, method }: Operation): string | undefined {
  if (changes === undefined) return 'has no x-changes in the contract, so its changes cannot be found';
  if (method !== 'GET' || paging === undefined || path.includes('{')) return 'is no list with pages and a fixed path';
  return undefined;
}

/** Returns the lists to follow: those that are named or, if none are, all of which the contract says how. */
export function followedLists(
  operations: readonly Operation[],
  named: readonly string[] | undefined,
): readonly FollowedList[] {
  return operations.flatMap((operation) => {
    const { changes, id, identityIndependent } = operation;
    if (changes === undefined || named?.includes(id) === false || whyNotFollowed(operation) !== undefined) return [];
    return [{ operation, changes, isOptional: named === undefined && !identityIndependent }];
  });
}

/** Returns the names by which the events of lists can be selected: the kinds of items, and what can happen to them. */
export const kindsIn = (lists: readonly Pick<Operation, 'changes'>[]): readonly string[] =>
  lists.flatMap(({ changes }) => (changes === undefined ? [] : selectorsOf(changes.kind, eventsOf(changes))));

const eventsOf = ({ grows }: ListChanges) => ['created', 'changed', ...Object.values(grows)];

/** Returns the target of a page. `page` counts from 0. */
export function pageTarget({ operation, changes }: FollowedList, page: number, pageSize: number): string {
  const { firstPage = 1 } = operation.paging ?? {};
  const order = changes.query === undefined ? '' : `&${changes.query}`;
  // The first page is asked for like clients do, without a number.
  const number = page === 0 ? '' : `&page=${firstPage + page}`;
  return `${operation.path}?pageSize=${pageSize}${order}${number}`;
}

/** Reads the items of a page. Items without an identity are left out. */
export function readItems(
  { changes }: FollowedList,
  values: readonly unknown[],
  shownItem: (item: PlainObject) => unknown,
): readonly ReadItem[] {
  return values.flatMap((value): ReadItem[] => {
    const item = toObject(value);
    const id = item && identityOf(item[changes.id]);
    if (item === undefined || id === undefined) return [];
    const { by, created, version, grows, title, hide } = changes;
    const shown = shownItem(item);
    const target = targetOf(changes, item, id);
    return [
      {
        id,
        by: by === undefined ? undefined : numberOf(item[by]),
        created: created === undefined ? undefined : numberOf(item[created]),
        version: [
          ...(version?.map((name) => textOf(item[name])) ?? [JSON.stringify(shown)]),
          ...Object.keys(grows).map((name) => textOf(item[name])),
        ],
        growths: Object.values(grows),
        // Whatever does not say that everyone may see it is not shown to anyone.
        hidden: hide !== undefined && item[hide] !== false,
        target,
        title: title === undefined ? undefined : titleOf(item[title]),
        data: () => dataOf(shown, target),
      },
    ];
  });
}

const MAX_IDENTITY = 100;

/** Returns an identity as text. Long numbers are texts already, see `parseExact`. */
function identityOf(value: unknown): string | undefined {
  if (typeof value === 'number') return String(value);
  return typeof value === 'string' && value !== '' && value.length <= MAX_IDENTITY ? value : undefined;
}

function targetOf({ target, kind }: ListChanges, item: Readonly<Record<string, unknown>>, id: string): Target {
  const about = target === undefined ? undefined : toObject(item[target]);
  const other = about && identityOf(about['id']);
  const type = about && identityOf(about['type']);
  return other === undefined || type === undefined ? { type: kind, id } : { type, id: other };
}

function numberOf(value: unknown): number | undefined {
  const number = typeof value === 'string' && /^-?\d{1,20}$/.test(value) ? Number(value) : value;
  return typeof number === 'number' && Number.isFinite(number) ? number : undefined;
}

const textOf = (value: unknown) => (value === undefined ? undefined : JSON.stringify(value));

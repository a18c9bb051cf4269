import { itemsOf, toObject } from '../contract/values.ts';
import type { Operation } from '../model/operation.ts';
import { RANK } from './first-requests.ts';

/** An additional query for a resource that has already been requested. */
interface Variation {
  readonly query: string;
  readonly rank: number;
}

const MAX_SORTS = 4;
const MAX_FIELDS = 3;

/** Returns additional queries for an operation, derived from its parameters and its plain response. */
export function variationsOf(operation: Operation, json: unknown): readonly Variation[] {
  const names = new Set(
    operation.parameters
      .filter(({ location, acceptance }) => location === 'query' && acceptance === 'known')
      .map(({ name }) => name),
  );
  const [item] = itemsOf(operation.itemsAt, json);
  const has = (name: string) => names.has(name);
  return [
    ...(has('page') ? pages(operation, membersOf(json)) : []),
    ...(has('sort') ? sorts(membersOf(json)) : []),
    ...projections(has, membersOf(item?.value)),
    ...(has('details') ? [shape('details=true')] : []),
    ...(has('active') ? [shape('active=false')] : []),
    ...(has('wrap') ? [shape('wrap=true')] : []),
    ...(has('v1') ? [shape('v1=true')] : []),
    ...filters(has, membersOf(item?.value)),
  ];
}

const page = (number: number): Variation => ({ query: `page=${number}`, rank: RANK.pages });
const shape = (query: string): Variation => ({ query, rank: RANK.shapes });
const filter = (query: string): Variation => ({ query, rank: RANK.filters });
const plainNames = (names: readonly string[]) => names.filter((name) => /^\w{1,40}$/.test(name));

function pages({ paging }: Operation, envelope: Members): Variation[] {
  const first = paging?.firstPage ?? 1;
  const { pageCount } = envelope;
  const counted = typeof pageCount === 'number' && Number.isSafeInteger(pageCount) && pageCount > 0;
  return [
    page(first),
    ...(counted && pageCount < 2 ? [] : [page(first + 1)]),
    { query: 'pageSize=50', rank: RANK.pages },
    { query: 'pageSize=1', rank: RANK.pages },
    ...(counted ? [page(first === 0 ? pageCount - 1 : pageCount)] : []),
    ...(counted ? [shape(`page=${pageCount + 1}`)] : []),
    ...(counted && pageCount > 2 ? [{ query: `page=${first + 2}&pageSize=5`, rank: RANK.more }] : []),
  ];
}

function sorts({ sorts: listed, sort }: Members): Variation[] {
  const names = [...(Array.isArray(listed) ? (listed as unknown[]) : []), sort];
  const plain = names.filter((name) => typeof name === 'string' && /^\w{1,40}$/.test(name));
  return [...new Set(plain)].slice(0, MAX_SORTS).map((name) => shape(`sort=${String(name)}`));
}

function projections(has: (name: string) => boolean, item: Members): Variation[] {
  const fields = plainNames(Object.keys(item));
  const nested = fields.flatMap((field) =>
    plainNames(Object.keys(membersOf(item[field]))).map((name) => `${field}.${name}`),
  );
  if (fields.length === 0) return [];
  const [inner] = nested;
  const last = fields.at(-1) ?? '';
  return [
    ...(has('includeOnly') ? [shape(`includeOnly=${fields.slice(0, MAX_FIELDS).join(',')}`)] : []),
    ...(has('includeOnly') && inner !== undefined ? [shape(`includeOnly=${inner}`)] : []),
    ...(has('exclude') ? [shape(`exclude=${last}`)] : []),
    ...(has('include') ? [shape(`include=${last}`)] : []),
  ];
}

function filters(has: (name: string) => boolean, item: Members): Variation[] {
  const space = item['primaryContainerId'];
  return [
    ...(has('spaceId') && Number.isSafeInteger(space) ? [filter(`spaceId=${String(space)}`)] : []),
    ...(has('unanswered') ? [filter('unanswered=true')] : []),
    ...(has('q') ? [filter('q=the')] : []),
  ];
}

type Members = Readonly<Record<string, unknown>>;

const membersOf = (value: unknown): Members => toObject(value) ?? {};

import { type Exploration, RANK } from '../../../engine/contract/exploration.ts';
import type { Operation } from '../../../engine/model/operation.ts';
import { DEFAULT_JSON_LIMITS, parseBounded, parsedValue } from '../../../lib/bounded-json.ts';
import { isPlainObject } from '../../../lib/plain-object.ts';
import {
  createKnownIds,
  firstRequests,
  missingIds,
  type SavedIds,
  type WalkRequest,
} from '../../walk/walk-requests.ts';
import type { RequestSource } from './request-source.ts';

/** The parts of a walk that decide what it requests. */
interface WalkSourceParts {
  /** The operations to walk. Those that are not safe are left out. */
  readonly operations: readonly Operation[];
  readonly exploration: Exploration;
  readonly ids: ReadonlyMap<string, readonly string[]>;
  readonly maxRequests: number;
  /** Further targets, which are requested after the walk. */
  readonly targets?: readonly string[];
  /** True if all pages of a list are requested, so that every item is compared. */
  readonly allPages: boolean;
}

/** The maximum number of pages requested from one list. */
const MAX_PAGES = 1_000;

/** A walk that was interrupted, as plain data. */
interface SavedWalk {
  readonly requested: readonly WalkRequest[];
  readonly waiting: readonly WalkRequest[];
  readonly further: readonly string[];
  readonly varied: readonly string[];
  readonly ids: SavedIds;
}

/** Walks the contract as `portico check --against` does, from the responses of the old server. */
export function createWalkSource(parts: WalkSourceParts, saved?: unknown): RequestSource {
  const before = isWalk(saved) ? saved : undefined;
  const operations = parts.operations.filter(({ method }) => method === 'GET');
  const ids = createKnownIds(parts.ids, parts.exploration, before?.ids);
  const waiting = [...(before?.waiting ?? [])];
  const requested = new Map(before?.requested.map((request) => [request.target, request]));
  const known = new Set([...waiting.map(({ target }) => target), ...requested.keys()]);
  const varied = new Set(before?.varied);
  const further = [...(before?.further ?? parts.targets ?? [])];
  const add = (request: WalkRequest) => {
    if (known.has(request.target)) return;
    known.add(request.target);
    const at = waiting.findIndex(({ rank }) => rank > request.rank);
    waiting.splice(at < 0 ? waiting.length : at, 0, request);
  };
  const plan = () => operations.flatMap((operation) => firstRequests(operation, ids)).forEach(add);
  plan();
  return {
    next() {
      const request = requested.size >= parts.maxRequests ? undefined : waiting.shift();
      if (request === undefined) {
        const target = further.shift();
        return Promise.resolve(target === undefined ? undefined : { method: 'GET', target });
      }
      requested.set(request.target, request);
      return Promise.resolve({ method: 'GET', target: request.target });
    },
    learn({ target }, { status, body }) {
      const request = requested.get(target);
      if (status !== 200 || request === undefined) return;
      if (ids.learn(body.toString('utf8'))) plan();
      const operation = operations.find(({ id }) => id === request.operation);
      if (request.query !== '' || operation === undefined || varied.has(request.operation)) return;
      varied.add(request.operation);
      const json = parsedValue(parseBounded(body, DEFAULT_JSON_LIMITS));
      const put = (query: string, rank: number) =>
        add({ operation: operation.id, target: `${request.target}?${query}`, query, rank });
      for (const { query, rank } of parts.exploration.variationsOf(operation, json)) put(query, rank);
      if (!parts.allPages || operation.paging?.hasPageCount !== true) return;
      const { pageCount } = (json ?? {}) as { readonly pageCount?: unknown };
      const first = operation.paging.firstPage;
      const count = typeof pageCount === 'number' ? Math.min(pageCount, MAX_PAGES) : 0;
      for (let page = first; page < first + count; page += 1) put(`page=${page}`, RANK.pages);
    },
    left: () => waiting.length + further.length,
    position: (): SavedWalk => ({
      requested: [...requested.values()],
      waiting,
      further,
      varied: [...varied],
      ids: ids.save(),
    }),
    notWalked() {
      const asked = new Set(Array.from(requested.values(), ({ operation }) => operation));
      return operations
        .filter(({ id }) => !asked.has(id))
        .map((operation) => ({ operation: operation.id, missing: missingIds(operation, ids) }));
    },
    close: () => Promise.resolve(),
  };
}

const isWalk = (saved: unknown): saved is SavedWalk =>
  isPlainObject(saved) &&
  ['requested', 'waiting', 'further', 'varied', 'ids'].every((name) => Array.isArray(saved[name]));

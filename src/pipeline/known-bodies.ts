import { LRUCache } from 'lru-cache';
import { itemTags } from '../cache/tags.ts';
import { itemValues, toObject } from '../contract/values.ts';
import type { ItemsAt, Operation } from '../model/operation.ts';
import type { Violation } from '../model/violation.ts';
import type { PlannedOperation } from './planned-operation.ts';

/** Facts about a parsed body, for the stages that do not receive the body itself. */
export interface BodyFacts {
  /** False if the body is not JSON or was not parsed. */
  readonly isJson: boolean;
  /** True if the body has its items in the expected place. */
  readonly isOuterForm: boolean;
  readonly hasTopLevelError: boolean;
  /** The page count that bounds pages. Undefined if the body has none or the bound is waived (rules, 5). */
  readonly pageCount: number | undefined;
  /** Tags of the items, if pages of the operation are cached. */
  readonly tags: readonly string[];
}

/** Returns the facts that stages need from a parsed body. `json` is undefined if the body is not JSON. */
export function bodyFactsOf(
  { operation, cache }: Pick<PlannedOperation, 'operation' | 'cache'>,
  json: unknown,
): BodyFacts {
  const { itemsAt } = operation;
  return {
    isJson: json !== undefined,
    isOuterForm: isOuterForm(json, itemsAt),
    hasTopLevelError: typeof json === 'object' && json !== null && ('error' in json || 'errors' in json),
    pageCount: pageCountOf(json),
    tags: cache === undefined ? [] : itemTags(json, itemsAt),
  };
}

function isOuterForm(json: unknown, itemsAt: ItemsAt): boolean {
  if (itemsAt === 'elements') return Array.isArray(json);
  if (typeof json !== 'object' || json === null || Array.isArray(json)) return false;
  return itemsAt === 'body' || Array.isArray((json as Record<string, unknown>)[itemsAt]);
}

/** Returns undefined if there are no results, because the bound is then waived. */
function pageCountOf(json: unknown): number | undefined {
  if (typeof json !== 'object' || json === null) return undefined;
  // An error does not describe a list, whatever other fields it has.
  if ('error' in json || 'errors' in json) return undefined;
  const { pageCount, totalCount } = json as Record<string, unknown>;
  if (totalCount === 0 || typeof pageCount !== 'number' || !Number.isSafeInteger(pageCount)) return undefined;
  return pageCount;
}

/** The parts of a response that its verdict depends on; the operation and its parameters form the key. */
export interface DecodedResponse {
  readonly status: number;
  readonly mediaType: string | undefined;
  /** The body without its content coding. */
  readonly bytes: Buffer;
}

/** A valid response, with the data read from it. */
export interface KnownBody extends DecodedResponse {
  readonly facts: BodyFacts;
  readonly authors: readonly Authorship[];
  readonly namesUpstream: boolean;
  /** Violations to report each time the response is received: fields that are not in the contract. */
  readonly reported: readonly Violation[];
}

/** Remembers the last valid response by key, so that identical bytes are not parsed and checked again. */
export interface KnownBodies {
  /**
   * Returns the remembered response if every byte is equal. Bytes are compared without hashing, so collisions are
   * impossible.
   */
  find(key: string, response: DecodedResponse): KnownBody | undefined;
  /** Remembers a valid response, from the second call for the same key. */
  remember(key: string, body: KnownBody): void;
}

/** The limit for the remembered bodies of all operations together, in bytes. */
const KNOWN_BODIES_BYTES = 4 * 1024 * 1024;

// A body larger than this share of the limit would evict too many others.
const MAX_SHARE = 1 / 8;
// The approximate size of an entry apart from its body: key, tags and authors.
const ENTRY_BYTES = 4096;

const MAX_SEEN = 2000;
// After this many consecutive changes, only one in `REMEMBER_EVERY` responses is remembered until one is repeated.
const MAX_CHANGES = 4;
const REMEMBER_EVERY = 16;

/** A remembered response, and the number of different responses received since the last identical one. */
interface Remembered extends KnownBody {
  changes: number;
}

/** Creates an empty store of known bodies. */
export function createKnownBodies(maxBytes: number = KNOWN_BODIES_BYTES): KnownBodies {
  const bodies = new LRUCache<string, Remembered>({
    maxSize: maxBytes,
    maxEntrySize: Math.floor(maxBytes * MAX_SHARE),
    sizeCalculation: ({ bytes }, key) => ENTRY_BYTES + key.length + bytes.buffer.byteLength,
  });
  // A response is remembered when its key is seen for the second time, because a response that is requested only once
  // is not worth the memory.
  const seen = new LRUCache<string, true>({ max: MAX_SEEN });
  return {
    find(key, { status, mediaType, bytes }) {
      const known = bodies.get(key);
      if (known === undefined || known.status !== status || known.mediaType !== mediaType) return undefined;
      if (known.bytes.equals(bytes)) {
        known.changes = 0;
        return known;
      }
      known.changes += 1;
      return undefined;
    },
    remember(key, body) {
      if (bodies.peek(key) === undefined && !seen.delete(key)) {
        seen.set(key, true);
        return;
      }
      const changes = bodies.peek(key)?.changes ?? 0;
      // A list that differs each time is not remembered each time, because the old bodies would only fill memory.
      if (changes > MAX_CHANGES && changes % REMEMBER_EVERY !== 0) return;
      bodies.set(key, { ...body, bytes: ownBuffer(body.bytes), changes });
    },
  };
}

/** Returns the bytes in a separate buffer if the current one is much larger. */
function ownBuffer(bytes: Buffer): Buffer {
  if (bytes.buffer.byteLength <= bytes.length + ENTRY_BYTES) return bytes;
  const copy = Buffer.allocUnsafeSlow(bytes.length);
  bytes.copy(copy);
  return copy;
}

/** A node and its author. */
export type Authorship = readonly [nodeId: string, authorName: string];

/** Records the author of a node. */
export type LearnAuthor = (nodeId: string, authorName: string) => void;

/** Returns the authors of the nodes in a valid response (rules, 3). */
export function authorsOf({ itemsAt }: Pick<Operation, 'itemsAt'>, json: unknown): readonly Authorship[] {
  const authors: Authorship[] = [];
  for (const value of itemValues(itemsAt, json)) {
    const item = toObject(value);
    // The items may also be users and topics, whose authors are irrelevant. Only nodes have a revision.
    if (item?.['activeRevisionId'] === undefined) continue;
    const { id, author } = item as { readonly id?: unknown; readonly author?: unknown };
    const name = typeof author === 'object' && author !== null && 'username' in author ? author.username : undefined;
    const exact = typeof id === 'string' || (typeof id === 'number' && Number.isSafeInteger(id));
    if (exact && typeof name === 'string') authors.push([String(id), name]);
  }
  return authors;
}

import { LRUCache } from 'lru-cache';
import { itemValues, toObject } from '../contract/items.ts';
import type { Operation } from '../model/operation.ts';
import type { Violation } from '../model/violation.ts';
import type { BodyFacts } from './reply.ts';

/** Everything that a verdict depends on beside the operation and its parameters, which are the key. */
export interface BodyLook {
  readonly status: number;
  readonly mediaType: string | undefined;
  /** The body without its content coding. */
  readonly bytes: Buffer;
}

/** An answer that was judged valid, and what was read from it. */
export interface KnownBody extends BodyLook {
  readonly facts: BodyFacts;
  readonly authors: readonly Authorship[];
  readonly namesUpstream: boolean;
  /** What is told of it every time it comes: fields that the contract does not know. */
  readonly reported: readonly Violation[];
}

/** Remembers the last valid answer by key, so that the same bytes are not parsed and judged again. */
export interface KnownBodies {
  /** The remembered answer when this one is equal to it in every byte; nothing is hashed, so that nothing can collide. */
  find(key: string, look: BodyLook): KnownBody | undefined;
  /** To be called with valid answers only; takes them from the second time on that a key comes. */
  remember(key: string, answer: KnownBody): void;
}

/** Bound on the remembered bodies of all operations together, in bytes. */
const KNOWN_ANSWERS_BYTES = 4 * 1024 * 1024;

// A body that is larger than this share of the bound would drive out too many others.
const LARGEST_SHARE = 1 / 8;
// About what an entry takes beside its body: key, tags, authors.
const ENTRY_BYTES = 4096;

const MAX_SEEN = 2000;
// After so many changes in a row, only every so-many-th answer is remembered until one comes again.
const OFTEN = 4;
const SELDOM = 16;

/** A remembered answer, and how often another one has come since one was the same. */
interface Remembered extends KnownBody {
  changes: number;
}

/** Makes an empty memory. */
export function createKnownBodies(maxBytes: number = KNOWN_ANSWERS_BYTES): KnownBodies {
  const answers = new LRUCache<string, Remembered>({
    maxSize: maxBytes,
    maxEntrySize: Math.floor(maxBytes * LARGEST_SHARE),
    sizeCalculation: ({ bytes }, key) => ENTRY_BYTES + key.length + bytes.buffer.byteLength,
  });
  // What is asked for once is not worth its memory: an answer is remembered when its key comes a second time.
  const seen = new LRUCache<string, true>({ max: MAX_SEEN });
  return {
    find(key, { status, mediaType, bytes }) {
      const known = answers.get(key);
      if (known === undefined || known.status !== status || known.mediaType !== mediaType) return undefined;
      if (known.bytes.equals(bytes)) {
        known.changes = 0;
        return known;
      }
      known.changes += 1;
      return undefined;
    },
    remember(key, answer) {
      if (answers.peek(key) === undefined && !seen.delete(key)) {
        seen.set(key, true);
        return;
      }
      const changes = answers.peek(key)?.changes ?? 0;
      // A list that differs each time is not worth keeping each time: old bodies would only fill memory.
      if (changes > OFTEN && changes % SELDOM !== 0) return;
      answers.set(key, { ...answer, bytes: alone(answer.bytes), changes });
    },
  };
}

/** The bytes without a much larger buffer behind them. */
function alone(bytes: Buffer): Buffer {
  if (bytes.buffer.byteLength <= bytes.length + ENTRY_BYTES) return bytes;
  const copy = Buffer.allocUnsafeSlow(bytes.length);
  bytes.copy(copy);
  return copy;
}

/** Who wrote which node. */
export type Authorship = readonly [nodeId: string, authorName: string];

/** Notes who wrote a node. */
export type LearnAuthor = (nodeId: string, authorName: string) => void;

/** Reads from a valid answer who wrote the nodes that it shows (rules, 3). */
export function authorsOf({ itemsAt }: Pick<Operation, 'itemsAt'>, json: unknown): readonly Authorship[] {
  const authors: Authorship[] = [];
  for (const value of itemValues(itemsAt, json)) {
    const item = toObject(value);
    // Users and topics are shown too, and their authors decide nothing; a revision is what only nodes have.
    if (item?.['activeRevisionId'] === undefined) continue;
    const { id, author } = item as { readonly id?: unknown; readonly author?: unknown };
    const name = typeof author === 'object' && author !== null && 'username' in author ? author.username : undefined;
    const exact = typeof id === 'string' || (typeof id === 'number' && Number.isSafeInteger(id));
    if (exact && typeof name === 'string') authors.push([String(id), name]);
  }
  return authors;
}

import { LRUCache } from 'lru-cache';
import type { Authorship } from '../contract/api-profile.ts';
import { copyOf } from '../cache/stored-page.ts';
import { createLruMap } from '../../lib/bounded-maps.ts';
import type { Violation } from '../model/violation.ts';
import type { DecodedResponse } from './decoded-response.ts';
import type { BodyFacts } from './reply.ts';

/** A valid response and the facts read from it. */
export interface KnownBody extends DecodedResponse {
  readonly facts: BodyFacts;
  readonly authors: readonly Authorship[];
  readonly namesUpstream: boolean;
  /**
   * Violations to report each time this body is received. All of them are due to fields that are not in the contract.
   */
  readonly reported: readonly Violation[];
}

/** Remembers the last valid response for each key so that identical bytes are not parsed and checked again. */
export interface KnownBodies {
  /**
   * Returns the remembered response if its bytes are identical. The bytes themselves are compared rather than their
   * hashes, so collisions are impossible.
   */
  find(key: string, response: DecodedResponse): KnownBody | undefined;
  /** Remembers a valid response. The first call for a key remembers only the key. */
  remember(key: string, body: KnownBody): void;
}

/** The maximum total size of all remembered bodies, in bytes. */
const KNOWN_BODIES_BYTES = 4 * 1024 * 1024;

// The maximum size of a body to remember, as a fraction of the limit. A larger body would evict too many others.
const MAX_SHARE = 1 / 8;
// The approximate size, in bytes, of an entry without its body. It covers the key, the tags and the authors.
const ENTRY_BYTES = 4096;

const MAX_SEEN = 2000;
// After the body for a key has changed this many times in a row, only one in every `REMEMBER_EVERY` bodies is
// remembered until a body is repeated.
const MAX_CHANGES = 4;
const REMEMBER_EVERY = 16;

/** A remembered response, and how often the response for its key has changed since it was last repeated. */
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
  // A response is remembered only the second time its key is seen, so that responses that are never requested again
  // waste no memory.
  const seen = createLruMap<string, true>(MAX_SEEN);
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
      // If a list keeps changing, most of its versions are not remembered, because they will not recur and would only
      // take up memory.
      if (changes > MAX_CHANGES && changes % REMEMBER_EVERY !== 0) return;
      bodies.set(key, { ...body, bytes: ownBuffer(body.bytes), changes });
    },
  };
}

/** Copies the bytes to a new buffer if the buffer that contains them is much larger. */
function ownBuffer(bytes: Buffer): Buffer {
  return bytes.buffer.byteLength <= bytes.length + ENTRY_BYTES ? bytes : copyOf(bytes);
}

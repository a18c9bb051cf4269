import { exceededLimit, type JsonLimits } from '../lib/bounded-json.ts';
import { findMembers } from './find-members.ts';

/** A body without the redacted members, and their names. */
export interface Redacted {
  readonly body: Buffer;
  /** Each name once, in the order of appearance. */
  readonly removed: readonly string[];
}

/**
 * Takes the named members out of a JSON text, at any depth, without altering any other byte: numbers keep all their
 * digits, strings their escapes. Returns the same buffer when there is none, and undefined for what is not JSON or
 * exceeds the limits: the caller then must not send it.
 */
export function redactMembers(body: Buffer, names: ReadonlySet<string>, limits: JsonLimits): Redacted | undefined {
  if (exceededLimit(body, limits) !== undefined) return undefined;
  const found = findMembers(body, names);
  if (found === undefined) return undefined;
  if (found.cuts.length === 0) return { body, removed: [] };
  const kept = Buffer.allocUnsafe(body.length);
  let length = 0;
  let from = 0;
  for (const cut of found.cuts) {
    length += body.copy(kept, length, from, cut.from);
    from = cut.to;
  }
  length += body.copy(kept, length, from);
  return { body: kept.subarray(0, length), removed: [...found.names] };
}

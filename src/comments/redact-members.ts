import { exceededLimit, type JsonLimits } from '../lib/bounded-json.ts';
import { findMembers } from './find-members.ts';

/** A body without the redacted members, and the names of those members. */
interface Redacted {
  readonly body: Buffer;
  /** The distinct names, in order of their first occurrence. */
  readonly removed: readonly string[];
}

/**
 * Removes members with the given names from a JSON text, at any depth. All other bytes stay the same, including the
 * digits of numbers and the escapes in strings. Returns the same buffer if no member has such a name. Returns undefined
 * if the text is not JSON or exceeds the limits. The caller must not send it in that case.
 */
export function redactMembers(body: Buffer, names: ReadonlySet<string>, limits: JsonLimits): Redacted | undefined {
  if (exceededLimit(body, limits) !== undefined) return undefined;
  const found = findMembers(body, names);
  if (found === undefined) return undefined;
  if (found.cuts.length === 0) return { body, removed: [] };
  const remaining = Buffer.allocUnsafe(body.length);
  let length = 0;
  let from = 0;
  for (const cut of found.cuts) {
    length += body.copy(remaining, length, from, cut.from);
    from = cut.to;
  }
  length += body.copy(remaining, length, from);
  return { body: remaining.subarray(0, length), removed: [...found.names] };
}

import { endOfScalar, endOfString, MALFORMED, skipSpace } from './json-bytes.ts';
import { createNameMatcher } from './member-name.ts';

/** A range of bytes to remove: a member and one adjacent comma. */
interface Cut {
  readonly from: number;
  readonly to: number;
}

/** The places of the named members. */
interface FoundMembers {
  /** Ascending, without overlap. */
  readonly cuts: readonly Cut[];
  readonly names: ReadonlySet<string>;
}

/** An object or array that is not closed yet. */
interface Frame {
  readonly isObject: boolean;
  /** True once a member of this object remains: later members are cut with the comma before them. */
  keeps: boolean;
  /** The comma before the current member. */
  commaAt: number;
  /** The start of the current member if it will be cut. */
  cutFrom: number | undefined;
}

/**
 * Finds members by name in one pass over the bytes of a JSON text, without recursion; returns undefined if it is
 * malformed. The caller bounds the depth and the number of members.
 */
export function findMembers(bytes: Buffer, names: ReadonlySet<string>): FoundMembers | undefined {
  const nameOf = createNameMatcher(names);
  const cuts: Cut[] = [];
  const found = new Set<string>();
  const frames: Frame[] = [];
  // The frame whose current member is being cut, including all nested values.
  let cutting: Frame | undefined;
  let at = skipSpace(bytes, afterByteOrderMark(bytes));

  /** Reads a key up to its value; returns false if malformed. */
  const readKey = (frame: Frame): boolean => {
    if (bytes[at] !== 0x22) return false;
    const end = endOfString(bytes, at);
    if (end === MALFORMED) return false;
    const name = cutting === undefined ? nameOf(bytes, at + 1, end - 1) : undefined;
    if (name === undefined) frame.keeps = true;
    else {
      found.add(name);
      frame.cutFrom = frame.keeps ? frame.commaAt : at;
      cutting = frame;
    }
    at = skipSpace(bytes, end);
    if (bytes[at] !== 0x3a) return false;
    at = skipSpace(bytes, at + 1);
    return true;
  };

  /** Moves from the end of a value to the next value; returns whether there is one, or undefined if malformed. */
  const afterValue = (): boolean | undefined => {
    for (;;) {
      const frame = frames.at(-1);
      const end = at;
      at = skipSpace(bytes, at);
      if (frame === undefined) return at === bytes.length ? false : undefined;
      const isComma = bytes[at] === 0x2c;
      const commaAt = at;
      if (isComma) at = skipSpace(bytes, at + 1);
      else if (bytes[at] !== (frame.isObject ? 0x7d : 0x5d)) return undefined;
      if (frame.cutFrom !== undefined) {
        // The first member is cut with the comma after it.
        cuts.push({ from: frame.cutFrom, to: frame.keeps ? end : at });
        frame.cutFrom = undefined;
        cutting = undefined;
      }
      if (isComma) {
        frame.commaAt = commaAt;
        return !frame.isObject || readKey(frame) ? true : undefined;
      }
      at += 1;
      frames.pop();
    }
  };

  for (;;) {
    const byte = bytes[at];
    let closed = true;
    if (byte === 0x7b || byte === 0x5b) {
      const isObject = byte === 0x7b;
      const frame: Frame = { isObject, keeps: false, commaAt: at, cutFrom: undefined };
      at = skipSpace(bytes, at + 1);
      closed = bytes[at] === (isObject ? 0x7d : 0x5d);
      if (closed) at += 1;
      else if (frames.push(frame) > 0 && isObject && !readKey(frame)) return undefined;
    } else {
      at = byte === 0x22 ? endOfString(bytes, at) : endOfScalar(bytes, at);
      if (at === MALFORMED) return undefined;
    }
    if (closed) {
      const more = afterValue();
      if (more === undefined) return undefined;
      if (!more) return { cuts, names: found };
    }
  }
}

function afterByteOrderMark(bytes: Buffer): number {
  return bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 3 : 0;
}

import type { Socket } from 'node:net';

/** How many interim responses one request may get before its final one. */
export const MAX_INTERIM_RESPONSES = 64;
const MAX_INTERIM_BYTES = 16_384;

const HEAD_END = '\r\n\r\n';
/** How a response that is not final begins; the question mark stands for the minor version, 0 or 1. */
const INTERIM_START = Buffer.from('HTTP/1.? 1');
const VERSION_AT = INTERIM_START.indexOf('?');
const STATUS_AT = INTERIM_START.length - 1;
const STATUS_END = STATUS_AT + 3;

/**
 * Takes interim responses (1xx, RFC 9110 §15.2) out of what a socket receives, so that its reader meets final responses only:
 * undici gives up a connection on which a `100 Continue` comes that nobody asked for. A response that switches protocols
 * (101), more than 64 interim responses or more than 16 KiB of them destroy the socket.
 *
 * Returns what is to be called when a request begins: only before its final response are bytes looked at. The first request
 * of the socket needs no call.
 */
export function skipInterimResponses(socket: Socket): () => void {
  const push = socket.push.bind(socket);
  let awaitsHead = true;
  let held: Buffer | undefined;
  let count = 0;
  let bytes = 0;

  const pass = (rest: Buffer): boolean => {
    awaitsHead = false;
    return push(rest);
  };
  const refuse = (reason: string): boolean => {
    awaitsHead = false;
    socket.destroy(new Error(reason));
    return false;
  };

  /** Passes what follows the interim responses at the beginning; holds an unfinished one until more comes. */
  const skip = (received: Buffer): boolean => {
    let rest = received;
    while (rest.length > 0) {
      if (!isInterim(rest)) return pass(rest);
      if (rest.toString('latin1', STATUS_AT, STATUS_END) === '101') return refuse('unasked switch of protocols');
      const end = rest.indexOf(HEAD_END);
      const length = end < 0 ? rest.length : end + HEAD_END.length;
      if (bytes + length > MAX_INTERIM_BYTES) return refuse('too many bytes of interim responses');
      if (end < 0) {
        held = rest;
        return true;
      }
      bytes += length;
      count += 1;
      if (count > MAX_INTERIM_RESPONSES) return refuse('too many interim responses');
      rest = rest.subarray(length);
    }
    return true;
  };

  // A socket gives every part that it receives to its own `push`, and null at the end.
  socket.push = (part: Buffer | null, encoding?: BufferEncoding) => {
    if (!awaitsHead) return push(part, encoding);
    const before = held;
    held = undefined;
    if (part === null) {
      if (before !== undefined) pass(before);
      return push(null);
    }
    if (before !== undefined) return skip(Buffer.concat([before, part]));
    // Nearly always it is a final response, which one byte shows.
    const status = part[STATUS_AT];
    return status === undefined || status === INTERIM_START[STATUS_AT] ? skip(part) : pass(part);
  };
  return () => {
    awaitsHead = true;
    count = 0;
    bytes = 0;
  };
}

/** Whether the bytes begin as an interim response does, or may still come to. */
function isInterim(bytes: Buffer): boolean {
  const known = Math.min(bytes.length, INTERIM_START.length);
  for (let at = 0; at < known; at += 1) {
    const byte = bytes[at];
    if (at === VERSION_AT ? byte !== 0x30 && byte !== 0x31 : byte !== INTERIM_START[at]) return false;
  }
  return true;
}

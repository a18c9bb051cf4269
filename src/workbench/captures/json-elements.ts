/** One element of a JSON array, or a sign that an element was too large and has been skipped. */
export type JsonElement = { readonly bytes: Buffer } | { readonly skippedBytes: number };

const [QUOTE, BACKSLASH, OPEN, CLOSE, OPEN_LIST, CLOSE_LIST, COLON] = [0x22, 0x5c, 0x7b, 0x7d, 0x5b, 0x5d, 0x3a];

/** A member of the path in which the scanner is: the name of an object's member, or undefined for a list. */
interface Level {
  readonly isList: boolean;
  name: string | undefined;
}

/** The longest name that is told apart. */
const MAX_NAME = 64;

/**
 * Yields the objects in the array that a path of names leads to, such as `log`, `entries`. The text may be of any size:
 * only one element is in memory, and an element of more than `maxBytes` is skipped.
 */
export async function* jsonElements(
  chunks: AsyncIterable<Buffer>,
  path: readonly string[],
  maxBytes: number,
): AsyncGenerator<JsonElement> {
  const levels: Level[] = [];
  let inString = false;
  let isEscaped = false;
  let text: number[] = [];
  let lastText: string | undefined;
  // The element that is being read: its parts, and the depth at which it began.
  let element: { parts: Buffer[]; bytes: number; readonly depth: number } | undefined;
  const isTarget = () =>
    levels.length === path.length + 1 &&
    levels.at(-1)?.isList === true &&
    path.every((name, at) => levels[at]?.name === name && !levels[at].isList);
  for await (const chunk of chunks) {
    let from = 0;
    const found: JsonElement[] = [];
    for (let at = 0; at < chunk.length; at += 1) {
      const byte = chunk[at] as number;
      if (inString) {
        if (isEscaped) isEscaped = false;
        else if (byte === BACKSLASH) isEscaped = true;
        else if (byte === QUOTE) {
          inString = false;
          lastText = element === undefined ? Buffer.from(text).toString('utf8') : undefined;
          continue;
        }
        if (element === undefined && text.length < MAX_NAME) text.push(byte);
        continue;
      }
      switch (byte) {
        case QUOTE:
          inString = true;
          text = [];
          break;
        case COLON: {
          const level = levels.at(-1);
          if (element === undefined && level !== undefined && !level.isList) level.name = lastText;
          break;
        }
        case OPEN:
        case OPEN_LIST:
          if (byte === OPEN && element === undefined && isTarget()) {
            element = { parts: [], bytes: 0, depth: levels.length };
            from = at;
          }
          levels.push({ isList: byte === OPEN_LIST, name: undefined });
          if (levels.length > MAX_DEPTH) throw new JsonElementsError('is nested too deeply');
          break;
        case CLOSE:
        case CLOSE_LIST: {
          const closed = levels.pop();
          if (closed === undefined || closed.isList !== (byte === CLOSE_LIST))
            throw new JsonElementsError('is not well-formed JSON');
          if (element === undefined || levels.length !== element.depth) break;
          const bytes = element.bytes + at + 1 - from;
          if (bytes > maxBytes) found.push({ skippedBytes: bytes });
          else found.push({ bytes: Buffer.concat([...element.parts, chunk.subarray(from, at + 1)]) });
          element = undefined;
          break;
        }
        default:
      }
    }
    if (element !== undefined) {
      const rest = chunk.subarray(from);
      element.bytes += rest.length;
      // What is already too large is not kept.
      if (element.bytes > maxBytes) element.parts = [];
      else element.parts.push(Buffer.from(rest));
    }
    yield* found;
  }
  if (levels.length > 0 || inString) throw new JsonElementsError('ends too early');
}

const MAX_DEPTH = 512;

/** An error in a JSON text of which only some elements are read. The message continues after the name of the file. */
export class JsonElementsError extends Error {
  override readonly name = 'JsonElementsError';
}

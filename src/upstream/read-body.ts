import { Readable } from 'node:stream';

/** What came of a body: all of it, more than the bound, or a part before it broke. */
export type ReadBody =
  | { readonly state: 'whole'; readonly bytes: Buffer }
  /** Holds all that was read and the rest, in order. */
  | { readonly state: 'larger'; readonly stream: Readable }
  | { readonly state: 'broken'; readonly bytes: Buffer; readonly error: unknown };

/** Reads a body into memory up to `limit` bytes. */
export async function readBody(body: Readable, limit: number): Promise<ReadBody> {
  const chunks: Buffer[] = [];
  let length = 0;
  try {
    for await (const chunk of body.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
      chunks.push(chunk);
      length += chunk.length;
      if (length > limit) {
        body.unshift(Buffer.concat(chunks));
        return { state: 'larger', stream: body };
      }
    }
    return { state: 'whole', bytes: chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks) };
  } catch (error) {
    return { state: 'broken', bytes: Buffer.concat(chunks), error };
  }
}

/** A body that gives what was received and then breaks, so that its reader cannot take it for whole. */
export function brokenBody(bytes: Buffer, error: Error): Readable {
  let given = bytes.length === 0;
  return new Readable({
    read() {
      if (given) {
        this.destroy(error);
        return;
      }
      given = true;
      this.push(bytes);
    },
  });
}

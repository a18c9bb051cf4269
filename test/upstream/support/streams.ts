import type { Readable } from 'node:stream';

/** The text of a stream, and the error that broke it. */
export async function drain(stream: Readable): Promise<{ bytes: Buffer; error: unknown }> {
  const chunks: Buffer[] = [];
  try {
    for await (const chunk of stream as AsyncIterable<Buffer>) chunks.push(chunk);
    return { bytes: Buffer.concat(chunks), error: undefined };
  } catch (error) {
    return { bytes: Buffer.concat(chunks), error };
  }
}

/** The text of a body in memory. */
export function textOf(body: Buffer | Readable): string {
  if (!Buffer.isBuffer(body)) throw new Error('the body still streams');
  return body.toString('latin1');
}

import { Readable } from 'node:stream';

/** A complete body within the limit, or a stream that yields all of a larger one. */
type ReadBody = { readonly whole: Buffer } | { readonly rest: Readable };

/** Reads a stream up to a limit in bytes; `rest` yields a larger body completely, including the bytes already read. */
export async function readBody(stream: Readable, limit: number): Promise<ReadBody> {
  const chunks: Buffer[] = [];
  let size = 0;
  const iterator = stream.iterator({ destroyOnReturn: false })[Symbol.asyncIterator]();
  for (;;) {
    const next = (await iterator.next()) as IteratorResult<Buffer, undefined>;
    if (next.done === true) return { whole: Buffer.concat(chunks, size) };
    chunks.push(next.value);
    size += next.value.length;
    if (size > limit) return { rest: Readable.from(resume(chunks, iterator), { objectMode: false }) };
  }
}

async function* resume(chunks: readonly Buffer[], iterator: AsyncIterator<unknown>): AsyncGenerator<Buffer> {
  yield* chunks;
  for (;;) {
    const next = (await iterator.next()) as IteratorResult<Buffer, undefined>;
    if (next.done === true) return;
    yield next.value;
  }
}

import { Readable } from 'node:stream';

/** A body that fitted, or a stream that still yields all of it when it did not. */
export type ReadBody = { readonly whole: Buffer } | { readonly rest: Readable };

/** Reads a stream up to a limit in bytes; what is larger can still be read from `rest`, nothing lost. */
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

/** One line, or a sign that a line was too long and has been skipped. */
export type TextLine = { readonly text: string } | { readonly skippedBytes: number };

const NEWLINE = 0x0a;

/** Yields the lines of a text of any size. A line of more than `maxBytes` is skipped. */
export async function* textLines(chunks: AsyncIterable<Buffer>, maxBytes: number): AsyncGenerator<TextLine> {
  let parts: Buffer[] = [];
  let bytes = 0;
  const add = (part: Buffer) => {
    bytes += part.length;
    if (bytes > maxBytes) parts = [];
    else parts.push(part);
  };
  const take = (): TextLine => {
    const line =
      bytes > maxBytes ? { skippedBytes: bytes } : { text: Buffer.concat(parts).toString('utf8').replace(/\r$/, '') };
    parts = [];
    bytes = 0;
    return line;
  };
  for await (const chunk of chunks) {
    let from = 0;
    for (let at = chunk.indexOf(NEWLINE); at >= 0; at = chunk.indexOf(NEWLINE, from)) {
      add(chunk.subarray(from, at));
      yield take();
      from = at + 1;
    }
    if (from < chunk.length) add(Buffer.from(chunk.subarray(from)));
  }
  if (bytes > 0) yield take();
}

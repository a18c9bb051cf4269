const END_OF_HEAD = '\r\n\r\n';

/**
 * Finds the end of each response on a persistent connection. Reads only the heads. `onEnd` receives the status of
 * each response.
 */
export function createResponseCounter(onEnd: (status: number) => void): (chunk: Buffer, length: number) => void {
  let head = '';
  let left = 0;
  let status = 0;
  return (chunk, length) => {
    let at = 0;
    while (at < length) {
      if (left > 0) {
        const taken = Math.min(left, length - at);
        left -= taken;
        at += taken;
        if (left === 0) onEnd(status);
        continue;
      }
      // Heads are short, so only the part of the data that can contain a head is decoded.
      const seen = head.length;
      head += chunk.toString('latin1', at, Math.min(length, at + 2048));
      const end = head.indexOf(END_OF_HEAD);
      if (end < 0) {
        at = Math.min(length, at + 2048);
        continue;
      }
      at += end + END_OF_HEAD.length - seen;
      status = Number(head.slice(9, 12));
      left = lengthOf(head.slice(0, end));
      head = '';
      if (left === 0) onEnd(status);
    }
  };
}

function lengthOf(head: string): number {
  const found = /\r\ncontent-length: *(\d+)/i.exec(head);
  if (found === null && !head.startsWith('HTTP/1.1 304')) throw new Error(`a response without a length:\n${head}`);
  return Number(found?.[1] ?? 0);
}

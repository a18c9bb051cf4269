import { Transform } from 'node:stream';
import { publicForm, type LegacyAddresses } from './legacy-addresses.ts';

// A scan that has found nothing in so many bytes stops looking.
const LONGEST_SCAN = 4 * 1024 * 1024;

/** Looks for legacy addresses in parts of a body, also across two parts; calls back once. */
export function createLegacyAddressScan(legacy: LegacyAddresses, onFound: () => void): (chunk: Buffer) => void {
  let tail = '';
  let left = LONGEST_SCAN;
  // An address may lie across two parts; of the second no more is looked at than it can reach.
  const beginsIn = (before: string, text: string): boolean => {
    if (before === '') return false;
    const found = legacy.anywhere.exec(before + text.slice(0, legacy.longest));
    return found !== null && found.index < before.length;
  };
  return (chunk) => {
    if (left <= 0) return;
    left -= chunk.length;
    const text = chunk.toString('latin1');
    if (legacy.anywhere.test(text) || beginsIn(tail, text)) {
      left = 0;
      onFound();
    }
    // From the bytes again: a slice of the text would keep all of it in memory.
    const end = chunk.toString('latin1', Math.max(0, chunk.length - legacy.longest));
    tail = (end.length < legacy.longest ? tail + end : end).slice(-legacy.longest);
  };
}

/** Rewrites absolute legacy addresses in a body that streams by, also across two parts of it. */
export function createLegacyAddressRewriter(legacy: LegacyAddresses, publicAddress: string): Transform {
  let held = '';
  // What begins before `until` is decided; the rest waits for the next part, since it may hold half an address.
  const rewrite = (text: string, until: number): string => {
    let written = '';
    let from = 0;
    for (const match of text.matchAll(legacy.underBase)) {
      if (match.index >= until) break;
      written += text.slice(from, match.index) + publicForm(publicAddress, match[1] ?? '');
      from = match.index + match[0].length;
    }
    const end = Math.max(from, until);
    held = text.slice(end);
    return written + text.slice(from, end);
  };
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      const text = held + chunk.toString('latin1');
      const ready = rewrite(text, Math.max(0, text.length - legacy.longest));
      done(null, ready === '' ? undefined : Buffer.from(ready, 'latin1'));
    },
    flush(done) {
      done(null, Buffer.from(rewrite(held, held.length), 'latin1'));
    },
  });
}

import type { CapturedExchange, Unreadable } from '../../captures/read-capture.ts';
import type { RequestSource, SourceItem } from './request-source.ts';

/** The maximum number of targets that are remembered. Beyond it, a request may be sent more than once. */
const MAX_REMEMBERED = 300_000;

interface CaptureSourceParts {
  readonly entries: AsyncGenerator<CapturedExchange | Unreadable>;
  /** True if a request that occurs several times is sent each time. */
  readonly repeats: boolean;
}

/** Reads the requests of a log or a HAR file. Only its GET requests are sent, each once. */
export function createCaptureSource({ entries, repeats }: CaptureSourceParts, saved?: unknown): RequestSource {
  // A run that continues reads again what an earlier one has read, because only the first of equal requests is sent.
  const before = typeof saved === 'number' && Number.isSafeInteger(saved) && saved > 0 ? saved : 0;
  let position = 0;
  const known = new Set<string>();
  const read = async (): Promise<SourceItem | undefined> => {
    const result = await entries.next();
    if (result.done === true) return undefined;
    position += 1;
    const { value } = result;
    if ('unreadable' in value) return { notMade: 'not readable' };
    const { method, target } = value;
    if (method !== 'GET') return { notMade: 'not a GET request' };
    if (!repeats && known.has(target)) return { notMade: 'asked already' };
    if (!repeats && known.size < MAX_REMEMBERED) known.add(target);
    return { method, target };
  };
  const skip = async () => {
    for (let at = 0; at < before; at += 1) if ((await read()) === undefined) return;
  };
  let skipped: Promise<void> | undefined;
  return {
    async next() {
      await (skipped ??= skip());
      return read();
    },
    learn: () => undefined,
    left: () => undefined,
    // While it is being skipped, an earlier run's position is still the right one.
    position: () => Math.max(position, before),
    close: async () => {
      await entries.return(undefined);
    },
  };
}

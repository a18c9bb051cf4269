import { readCapture } from '../../captures/read-capture.ts';
import type { RequestSource, SourceItem } from './request-source.ts';

/** The maximum number of targets that are remembered. Beyond it, a request may be sent more than once. */
const MAX_REMEMBERED = 300_000;

interface CaptureSourceParts {
  readonly file: string;
  /** The path under which all addresses of the API lie. */
  readonly apiPath: string;
  /** True if a request that occurs several times is sent each time. */
  readonly repeats: boolean;
}

/** Reads the requests of an access log or a HAR file. Only its GET requests are sent, each once. */
export function createCaptureSource({ file, apiPath, repeats }: CaptureSourceParts, saved?: unknown): RequestSource {
  let position = typeof saved === 'number' && Number.isSafeInteger(saved) && saved > 0 ? saved : 0;
  const entries = readCapture(file, apiPath, position);
  const known = new Set<string>();
  return {
    async next(): Promise<SourceItem | undefined> {
      const result = await entries.next();
      if (result.done === true) return undefined;
      const { value } = result;
      position += 1;
      if ('unreadable' in value) return { notMade: 'not readable' };
      const { method, target } = value;
      if (method !== 'GET') return { notMade: 'not a GET request' };
      if (!repeats && known.has(target)) return { notMade: 'asked already' };
      if (known.size < MAX_REMEMBERED) known.add(target);
      return { method, target };
    },
    learn: () => undefined,
    left: () => undefined,
    position: (unfinished) => Math.max(0, position - unfinished),
    close: async () => {
      await entries.return(undefined);
    },
  };
}

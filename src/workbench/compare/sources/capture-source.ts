import { createHash, hash } from 'node:crypto';
import { StartFault } from '../../../engine/model/fault.ts';
import { isPlainObject } from '../../../lib/plain-object.ts';
import type { CapturedExchange, Unreadable } from '../../captures/read-capture.ts';
import type { RequestSource, SourceItem } from './request-source.ts';

/** The maximum number of targets that are remembered. Beyond it, a request may be sent more than once. */
const MAX_REMEMBERED = 300_000;
/** The maximum number of requests that wait until their host is known to be the API's. */
const MAX_WAITING = 10_000;

interface CaptureSourceParts {
  readonly entries: AsyncGenerator<CapturedExchange | Unreadable>;
  /** True if a request that occurs several times is sent each time. */
  readonly repeats: boolean;
  /**
   * Says which requests belong to the API, because a browser records those for other hosts, too. A host belongs to it if
   * it is in `hosts`, or if one of its requests is documented. Undefined if undocumented requests are not sent anyway.
   */
  readonly own?: { readonly hosts: readonly string[]; readonly isDocumented: (target: string) => boolean } | undefined;
}

/** Where a run continues: after how many items, and a digest of them, which tells whether the recording is the same. */
interface Position {
  readonly items: number;
  readonly digest: string;
}

/** Reads the requests of a log or a HAR file. Only its GET requests are sent, each once. */
export async function createCaptureSource(
  { entries, repeats, own }: CaptureSourceParts,
  saved?: unknown,
): Promise<RequestSource> {
  let items = 0;
  const digest = createHash('sha256');
  const known = new Set<number>();
  const hosts = new Set(own?.hosts);
  const ready: string[] = [];
  const waiting = new Map<string, string[]>();
  let waitingCount = 0;
  const once = (target: string): SourceItem => {
    const key = repeats ? 0 : keyOf(target);
    if (known.has(key)) return { notMade: 'asked already' };
    if (!repeats && known.size < MAX_REMEMBERED) known.add(key);
    return { method: 'GET', target };
  };
  /** Returns whether a request is for the API's own host, which a later request may show. */
  const isOwn = ({ host, target }: CapturedExchange): boolean => {
    if (own === undefined || host === undefined || hosts.has(host)) return true;
    if (!own.isDocumented(target)) return false;
    hosts.add(host);
    const shown = waiting.get(host) ?? [];
    waitingCount -= shown.length;
    ready.push(...shown);
    return true;
  };
  const read = async (): Promise<SourceItem | undefined> => {
    for (;;) {
      const target = ready.shift();
      if (target !== undefined) return once(target);
      const result = await entries.next();
      if (result.done === true) {
        if (waitingCount === 0) return undefined;
        waitingCount -= 1;
        return { notMade: 'for another host' };
      }
      const { value } = result;
      if ('unreadable' in value) return { notMade: 'not readable' };
      if (value.method !== 'GET') return { notMade: 'not a GET request' };
      if (isOwn(value)) return once(value.target);
      if (waitingCount >= MAX_WAITING) return { notMade: 'for another host' };
      waitingCount += 1;
      const others = waiting.get(value.host ?? '') ?? [];
      waiting.set(value.host ?? '', others);
      others.push(value.target);
    }
  };
  const next = async () => {
    const item = await read();
    if (item === undefined) return undefined;
    items += 1;
    digest.update(`${'notMade' in item ? item.notMade : item.target}\n`);
    return item;
  };
  const position = (): Position => ({ items, digest: digest.copy().digest('base64url') });
  const before = positionOf(saved);
  // What an earlier run has read is read again, because only the first of equal requests is sent.
  while (items < before.items && (await next()) !== undefined);
  if (before.items > 0 && position().digest !== before.digest) {
    const message = `this is another recording: its first ${before.items} requests are not those with which the comparison began`;
    const suggestion = 'name the same recording in --from, or another file';
    throw new StartFault([{ source: '--resume', pointer: '', message, suggestion }]);
  }
  return {
    next,
    learn: () => undefined,
    left: () => undefined,
    position,
    close: async () => {
      await entries.return(undefined);
    },
  };
}

/** Returns a number by which a target is remembered, because the text can keep the whole line of the log in memory. */
const keyOf = (target: string) => Number.parseInt(hash('sha1', target).slice(0, 13), 16);

function positionOf(saved: unknown): Position {
  const { items, digest } = isPlainObject(saved) ? saved : {};
  return Number.isSafeInteger(items) && typeof digest === 'string'
    ? { items: items as number, digest }
    : { items: 0, digest: '' };
}

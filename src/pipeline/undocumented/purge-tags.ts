import { UpstreamFailure } from '../../model/upstream-failure.ts';
import type { PassthroughExchange } from '../exchange.ts';
import type { Stage } from '../stage.ts';
import type { Reply } from '../reply.ts';

/** Removes the stored responses with these tags, or all stored responses if there is no argument. */
export type UndocumentedPurge = (tags: readonly string[] | undefined) => unknown;

/**
 * Purges the stored responses that a write may have changed, before the client receives the response to the write. The
 * client's next read therefore returns current data (docs/rules.md §6).
 */
export function purgeTags(purge: UndocumentedPurge): Stage<PassthroughExchange> {
  return (next) => async (exchange) => {
    const { method, path } = exchange.arrival;
    if (!mayWrite(method)) return next(exchange);
    let reply: Reply;
    try {
      reply = await next(exchange);
    } catch (error) {
      // The response to a write may have been lost after the write took effect.
      if (error instanceof UpstreamFailure) await purge(passthroughPurges(path));
      throw error;
    }
    if (reply.status < 400 || reply.status >= 500) await purge(passthroughPurges(path));
    return reply;
  };
}

const SAFE: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS', 'TRACE']);

/** Returns whether a successful request with this method may have changed data. */
export function mayWrite(method: string): boolean {
  return !SAFE.has(method);
}

// A Map is safer than an object, because the client chooses the name and every object has a `constructor` property.
const LISTS: ReadonlyMap<string, readonly string[]> = new Map([
  ['question', ['questions']],
  ['answer', ['questions', 'comments']],
  ['comment', ['comments', 'questions']],
  ['idea', ['ideas']],
  ['article', ['articles']],
  ['kbentry', ['articles']],
  ['topic', ['topics', 'questions', 'articles', 'ideas', 'users']],
  ['group', ['users']],
]);

/**
 * Returns the tags of everything that a successful unsafe request to an undocumented path may have changed: the tag of
 * the node in the path, and the tags of the lists of its resource. Returns undefined if the tags are unknown, in which
 * case the whole cache must be purged (docs/rules.md §6).
 */
export function passthroughPurges(path: string): readonly string[] | undefined {
  const [resource, id] = path.replace(/^\/services\/v2\//, '').split('/');
  const lists = LISTS.get((resource ?? '').replace(/\.json$/, ''));
  if (lists === undefined) return undefined;
  const node = /^(\d{1,19})(?:\.json)?$/.exec(id ?? '')?.[1];
  return node === undefined ? lists : [`node:${node}`, ...lists];
}

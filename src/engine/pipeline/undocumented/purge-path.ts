import { UpstreamFailure } from '../../model/upstream-failure.ts';
import type { PassthroughExchange } from '../exchange.ts';
import type { Stage } from '../stage.ts';
import type { Reply } from '../reply.ts';

/** Removes the stored responses with these tags, or all stored responses if there is no argument. */
export type UndocumentedPurge = (tags: readonly string[] | undefined) => unknown;

/** Returns the tags of what a write to a path may have changed, or undefined if they are unknown. */
export type PurgedBy = (path: string) => readonly string[] | undefined;

/**
 * Purges the stored responses that a write may have changed, before the client receives the response to the write. The
 * client's next read therefore returns current data (docs/rules.md §6).
 */
export function purgePath(purge: UndocumentedPurge, purgedBy: PurgedBy): Stage<PassthroughExchange> {
  return (next) => async (exchange) => {
    const { method, path } = exchange.arrival;
    if (!mayWrite(method)) return next(exchange);
    let reply: Reply;
    try {
      reply = await next(exchange);
    } catch (error) {
      // The response to a write may have been lost after the write took effect.
      if (error instanceof UpstreamFailure) await purge(purgedBy(path));
      throw error;
    }
    if (reply.status < 400 || reply.status >= 500) await purge(purgedBy(path));
    return reply;
  };
}

const SAFE: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS', 'TRACE']);

/** Returns whether a successful request with this method may have changed data. */
export function mayWrite(method: string): boolean {
  return !SAFE.has(method);
}

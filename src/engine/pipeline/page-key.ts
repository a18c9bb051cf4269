import { cacheKey } from '../cache/stored-page.ts';
import type { Exchange, TargetKeys } from './exchange.ts';
import type { PlannedOperation } from './stage.ts';

/**
 * Returns the key for a stored page. It consists of the page version, the operation, the audience and the exact
 * upstream target (docs/rules.md §6).
 */
export function pageKey({ operation, pageVersion }: PlannedOperation, exchange: Exchange): string {
  const { audience, target: upstreamTarget, requestedPage } = exchange;
  const keys = keysOf(exchange);
  if (keys.page !== undefined) return keys.page;
  // If the target has no page number, both keys consist of the same characters. If one string object is used for
  // both, V8 computes the hash only once.
  const list = upstreamTarget === requestedPage.listTarget ? keys.list : undefined;
  const key = list ?? cacheKey({ pageVersion, operationId: operation.id, audience, upstreamTarget });
  keys.page = key;
  return key;
}

/** Returns the key for a remembered page count: the page key without the page number (docs/rules.md §5). */
export function pageCountKey({ operation, pageVersion }: PlannedOperation, exchange: Exchange): string {
  const { audience, requestedPage } = exchange;
  const { listTarget: upstreamTarget } = requestedPage;
  const keys = keysOf(exchange);
  return (keys.list ??= cacheKey({ pageVersion, operationId: operation.id, audience, upstreamTarget }));
}

/** Returns the keys remembered for the target. If they belong to another audience, clears them first. */
function keysOf({ keys, audience }: Exchange): TargetKeys {
  if (keys === undefined) return { audience, page: undefined, list: undefined };
  if (keys.audience === audience) return keys;
  keys.audience = audience;
  keys.page = undefined;
  keys.list = undefined;
  return keys;
}

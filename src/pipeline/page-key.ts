import { cacheKey } from '../cache/cache-key.ts';
import type { Exchange } from './exchange.ts';
import type { PlannedOperation } from './planned-operation.ts';

/** The key that a page is kept under: operation, audience, contract and the exact target that is sent (rules, 6). */
export function pageKey({ operation }: PlannedOperation, exchange: Exchange, contractVersion: string): string {
  const { audience, target: upstreamTarget } = exchange;
  return cacheKey({ contractVersion, operationId: operation.id, audience, upstreamTarget });
}

/** The key that a page count is learned under: that of the page without its number (rules, 5). */
export function pageCountKey({ operation }: PlannedOperation, exchange: Exchange, contractVersion: string): string {
  const { audience, asked } = exchange;
  return cacheKey({ contractVersion, operationId: operation.id, audience, upstreamTarget: asked.listTarget });
}

/** What tells one stored page from another (rules, 6). */
export interface CacheKeyParts {
  readonly contractVersion: string;
  readonly operationId: string;
  readonly audience: string;
  /** The exact target that will be sent. */
  readonly upstreamTarget: string;
}

/** The key of a page: a JSON array, so that no part can run into the next. */
export function cacheKey({ contractVersion, operationId, audience, upstreamTarget }: CacheKeyParts): string {
  return JSON.stringify([contractVersion, operationId, audience, upstreamTarget]);
}

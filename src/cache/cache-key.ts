/** What tells one stored page from another (rules, 6). */
export interface CacheKeyParts {
  readonly contractVersion: string;
  readonly operationId: string;
  readonly audience: string;
  /** The exact target that will be sent. */
  readonly upstreamTarget: string;
}

/** The key of a page: parts in lines, of which none can hold a line break, so that no part can run into the next. */
export function cacheKey({ contractVersion, operationId, audience, upstreamTarget }: CacheKeyParts): string {
  return `${contractVersion}\n${operationId}\n${audience}\n${upstreamTarget}`;
}

/** The operation that a key belongs to. */
export function operationOfKey(key: string): string {
  return key.split('\n', 2)[1] ?? '';
}

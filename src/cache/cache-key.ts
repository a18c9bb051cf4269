/** The parts that distinguish stored pages (rules, 6). */
export interface CacheKeyParts {
  readonly contractVersion: string;
  readonly operationId: string;
  readonly audience: string;
  /** The exact target of the request to the upstream. */
  readonly upstreamTarget: string;
}

/** Returns the key of a page: one line per part. Parts cannot contain line breaks, so keys are unambiguous. */
export function cacheKey({ contractVersion, operationId, audience, upstreamTarget }: CacheKeyParts): string {
  return `${contractVersion}\n${operationId}\n${audience}\n${upstreamTarget}`;
}

/** Returns the operation id in a key. */
export function operationOfKey(key: string): string {
  return key.split('\n', 2)[1] ?? '';
}

const SAFE: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS']);

/** Returns whether a method only reads (RFC 9110 §9.2.1). TRACE, which Portico serves nowhere, does not count. */
export const isSafe = (method: string): boolean => SAFE.has(method);

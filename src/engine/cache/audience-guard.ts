/** A fetched response. `caller` is the audience of the principal whose request triggered the fetch. */
interface FetchedResponse {
  readonly caller: string;
  readonly etag: string;
}

/**
 * Occasionally compares the responses for different callers to verify that shared responses do not depend on the
 * caller.
 */
export interface AudienceGuard {
  /**
   * Returns whether the operation is demoted because its responses were found to depend on the caller. A demoted
   * operation stays demoted until the process ends.
   */
  isDemoted(operationId: string): boolean;
  /**
   * Returns whether, for this cache hit, the caller's own response should also be fetched and compared with the stored
   * response.
   */
  shouldCompare(operationId: string, stored: FetchedResponse | undefined, caller: string): boolean;
  /**
   * Compares the stored response with the caller's own response. If two callers receive different responses, the
   * operation is demoted. Call this only while the page is fresh: if the list had changed since the page was stored,
   * the difference would be attributed to the caller.
   */
  compare(operationId: string, stored: FetchedResponse, own: FetchedResponse): 'same' | 'differs' | 'not comparable';
  /**
   * Makes the cache store the operation's future responses separately for each caller. Call this when a response is
   * found to depend on the caller.
   */
  demote(operationId: string): void;
  /** Returns the ids of the demoted operations. */
  demoted(): readonly string[];
}

/**
 * Creates an audience guard. `random` returns a number that is at least 0 and less than 1. `demoted` lists the
 * operations that are already demoted. `onDemoted` is called once for each operation that is demoted later.
 */
export function createAudienceGuard(settings: {
  readonly sampleShared: number;
  readonly random: () => number;
  readonly demoted?: readonly string[];
  readonly onDemoted?: (operationId: string) => void;
}): AudienceGuard {
  const demoted = new Set<string>(settings.demoted);
  const demote = (operationId: string) => {
    if (demoted.has(operationId)) return;
    demoted.add(operationId);
    settings.onDemoted?.(operationId);
  };
  return {
    isDemoted: (operationId) => demoted.has(operationId),
    shouldCompare(operationId, stored, caller) {
      if (stored === undefined || stored.caller === caller || demoted.has(operationId)) return false;
      return settings.random() < settings.sampleShared;
    },
    compare(operationId, stored, own) {
      if (stored.caller === own.caller) return 'not comparable';
      if (stored.etag === own.etag) return 'same';
      demote(operationId);
      return 'differs';
    },
    demote,
    demoted: () => [...demoted],
  };
}

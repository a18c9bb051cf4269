/** Whose answer it was, and which: `caller` is the audience of the one principal that fetched it. */
export interface FetchedAnswer {
  readonly caller: string;
  readonly etag: string;
}

/** Watches shared audiences by comparing answers of different callers now and then. */
export interface AudienceGuard {
  /** True once its responses were found to differ by caller; stays so until the process ends. */
  isDemoted(operationId: string): boolean;
  /** True when this hit on a shared page should rather be fetched again for its own caller and compared. */
  shouldCompare(operationId: string, stored: FetchedAnswer | undefined, caller: string): boolean;
  /**
   * Compares the stored answer with the caller's own; a difference between two callers demotes the operation. To be
   * asked only of fresh pages: a list that has changed meanwhile looks the same as one that differs by caller.
   */
  compare(operationId: string, stored: FetchedAnswer, own: FetchedAnswer): 'same' | 'differs' | 'not comparable';
  /** Stores an operation per caller from now on: a response shows that it depends on who asks. */
  demote(operationId: string): void;
  /** Ids of the demoted operations. */
  demoted(): readonly string[];
}

/** Creates the guard; `random` answers 0 ≤ x < 1, `onDemoted` hears of each operation once. */
export function createAudienceGuard(settings: {
  readonly sampleShared: number;
  readonly random: () => number;
  readonly onDemoted?: (operationId: string) => void;
}): AudienceGuard {
  const demoted = new Set<string>();
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

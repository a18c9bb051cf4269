/** One action of an OpenAPI Overlay 1.0. */
export interface OverlayAction {
  readonly target: string;
  readonly description: string;
  readonly update?: unknown;
  readonly remove?: true;
}

/** What a statement rests on; counts and instants only. */
export interface Evidence {
  /** Values, objects or answers that say so. */
  readonly seen: number;
  /** Distinct answers that they were in. */
  readonly answers: number;
  /** Of how many, where some may say otherwise. */
  readonly of?: number;
  /** Epoch milliseconds. */
  readonly firstSeenAt: number;
  readonly lastSeenAt: number;
}

/** One statement about the legacy server, with what would write it into the contract. */
export interface Proposal {
  readonly kind: 'shape' | 'field' | 'words' | 'type' | 'optional' | 'envelope' | 'path' | 'page-size' | 'switch';
  /** The place as people say it: `Node.attachments[]`. */
  readonly place: string;
  /** One plain sentence. */
  readonly statement: string;
  /** 0 to 1: the lower Wilson bound of what was seen. */
  readonly confidence: number;
  readonly evidence: Evidence;
  /** Empty where the statement changes nothing in the contract. */
  readonly actions: readonly OverlayAction[];
}

/** What is not proposed. */
export interface Limits {
  /** Distinct answers below which the name of a field, or a word, is told to nobody. */
  readonly minAnswers: number;
  /** 0 to 1. */
  readonly minConfidence: number;
  /** True writes every address that was learned with its shape; otherwise look-ups of tickets only. */
  readonly writeAddresses: boolean;
}

/** One change of an overlay: to every node that its target selects. */
export interface OverlayAction {
  /** A JSONPath expression (RFC 9535). */
  readonly target: string;
  /** What is merged into selected objects and appended to selected arrays; of no effect beside `remove`. */
  readonly update?: unknown;
  readonly remove?: boolean;
}

/** An OpenAPI Overlay 1.0 document that was read and checked. */
export interface Overlay {
  /** The file, as faults name it. */
  readonly source: string;
  /** What stands in the file, for the digest. */
  readonly text: string;
  readonly actions: readonly OverlayAction[];
}

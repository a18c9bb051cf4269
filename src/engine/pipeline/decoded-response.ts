/**
 * The parts of a response that affect its verdict. The operation and the parameters also affect it, but they are part
 * of the key.
 */
export interface DecodedResponse {
  readonly status: number;
  readonly mediaType: string | undefined;
  /** The body with its content coding removed. */
  readonly bytes: Buffer;
}

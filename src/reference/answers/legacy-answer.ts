/** What an answer carries: JSON still as a value (so that a fault can bend it), a page, raw bytes, or nothing. */
export type LegacyPayload =
  | { readonly kind: 'json'; readonly value: unknown }
  | { readonly kind: 'html'; readonly text: string }
  | { readonly kind: 'bytes'; readonly mimeType: string; readonly bytes: Uint8Array }
  | { readonly kind: 'empty' };

/** One answer of the reference server before it is written to the socket. */
export interface LegacyAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly payload: LegacyPayload;
}

/** A JSON answer, 200 unless told otherwise. */
export function jsonAnswer(value: unknown, status = 200, headers: Readonly<Record<string, string>> = {}): LegacyAnswer {
  return { status, headers, payload: { kind: 'json', value } };
}

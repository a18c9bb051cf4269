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

const REASONS: Readonly<Record<number, string>> = {
  400: 'Bad Request',
  401: 'Unauthorized',
  404: 'Not Found',
  405: 'Method Not Allowed',
  413: 'Request Entity Too Large',
  500: 'Internal Server Error',
  503: 'Service Unavailable',
};

/** The third error shape: a servlet container's HTML page on a `.json` address (field facts, grade D). */
export function htmlErrorPage(
  status: number,
  message: string,
  headers: Readonly<Record<string, string>> = {},
): LegacyAnswer {
  const title = `HTTP Status ${status} - ${REASONS[status] ?? 'Error'}`;
  const text =
    `<!DOCTYPE html><html><head><title>Apache Tomcat/7.0.54 - Error report</title></head><body><h1>${title}</h1>` +
    `<hr size="1" noshade="noshade"><p><b>type</b> Status report</p><p><b>message</b> <u>${message}</u></p>` +
    `<p><b>description</b> <u>${REASONS[status] ?? 'Error'}</u></p><hr size="1" noshade="noshade">` +
    '<h3>Apache Tomcat/7.0.54</h3></body></html>';
  return { status, headers, payload: { kind: 'html', text } };
}

/** The body of a response: a JSON value (which chaos can change), an HTML page, raw bytes, or empty. */
type LegacyPayload =
  | { readonly kind: 'json'; readonly value: unknown }
  | { readonly kind: 'html'; readonly text: string }
  | { readonly kind: 'bytes'; readonly mimeType: string; readonly bytes: Uint8Array }
  | { readonly kind: 'empty' };

/** A response of the reference server before serialization. */
export interface LegacyResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly payload: LegacyPayload;
}

/** Returns a JSON response. */
export function jsonResponse(
  value: unknown,
  status = 200,
  headers: Readonly<Record<string, string>> = {},
): LegacyResponse {
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

/**
 * Returns an error in the third shape: a servlet container's HTML page, even at a `.json` path (field facts, grade D).
 */
export function htmlErrorPage(
  status: number,
  message: string,
  headers: Readonly<Record<string, string>> = {},
): LegacyResponse {
  const title = `HTTP Status ${status} - ${REASONS[status] ?? 'Error'}`;
  const text =
    `<!DOCTYPE html><html><head><title>Apache Tomcat/7.0.54 - Error report</title></head><body><h1>${title}</h1>` +
    `<hr size="1" noshade="noshade"><p><b>type</b> Status report</p><p><b>message</b> <u>${message}</u></p>` +
    `<p><b>description</b> <u>${REASONS[status] ?? 'Error'}</u></p><hr size="1" noshade="noshade">` +
    '<h3>Apache Tomcat/7.0.54</h3></body></html>';
  return { status, headers, payload: { kind: 'html', text } };
}

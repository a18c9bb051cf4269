/**
 * The `Content-Security-Policy` of responses that are not pages: a browser loads nothing for them and does not frame
 * them.
 */
export const CLOSED_POLICY = "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'";

/** The `Content-Security-Policy` of what is no page of ours: a browser that shows it loads nothing and frames it nowhere. */
export const CLOSED_POLICY = "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'";

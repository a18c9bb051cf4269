// RFC 9112 §4: a reason phrase has spaces, tabs and visible characters.
// oxlint-disable-next-line no-control-regex -- control characters are what is looked for
const CONTROL = /[\0-\u0008\u000a-\u001f\u007f]/;

/**
 * Whether a final response has a status and a reason phrase that HTTP allows (RFC 9110 §15, RFC 9112 §4). A response that has
 * not is malformed: it cannot be passed on in any mode.
 */
export function isFinalHead(status: number | undefined, reason: string | undefined): boolean {
  return status !== undefined && status >= 200 && status <= 599 && (reason === undefined || !CONTROL.test(reason));
}

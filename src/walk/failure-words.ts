import type { GatewayError } from '../errors/gateway-error.ts';

/** Codes of OpenSSL, as Node names them, for a certificate that is not trusted. */
const UNTRUSTED = /CERT|^UNABLE_TO_(?:GET|VERIFY)|^HOSTNAME_MISMATCH$/;
const NO_TLS = /^(?:EPROTO|ERR_SSL_)/;

/** Why no answer came, with what the machine calls it: `The upstream cannot be reached (ECONNREFUSED).` */
export function failureWords(error: GatewayError): string {
  // Only a connection that was never made has a reason of its own.
  const code = error.code === 'upstream_refused' ? codeOf(error) : undefined;
  if (code === undefined) return error.message;
  if (UNTRUSTED.test(code))
    return `Its certificate is not trusted (${code}); NODE_EXTRA_CA_CERTS=FILE adds an authority of your own.`;
  if (NO_TLS.test(code)) return `It does not speak TLS as expected (${code}).`;
  return `${error.message.replace(/\.$/, '')} (${code}).`;
}

/** The first code of a system or of TLS among the causes; codes of the HTTP client say no more than the message. */
function codeOf(error: unknown): string | undefined {
  for (let cause = error, depth = 0; cause instanceof Error && depth < 6; cause = cause.cause, depth += 1) {
    if (!('code' in cause) || typeof cause.code !== 'string' || depth === 0) continue;
    if (/^[A-Z][A-Z0-9_]{1,60}$/.test(cause.code) && !cause.code.startsWith('UND_')) return cause.code;
  }
  return undefined;
}

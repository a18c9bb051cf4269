import { ERRORS, type ErrorCode } from './catalogue.ts';
import type { GatewayError } from './gateway-error.ts';

interface ErrorBody {
  readonly contentType: string;
  readonly body: Buffer;
}

/**
 * The format of an error reply: RFC 9457, Portico's own format, or one of the legacy server's two formats, `{error}`
 * and `{errors: {message}}`.
 */
export type ErrorForm = 'problem' | 'normalized' | 'legacy' | 'legacy-message';

/**
 * The end of the message about a denial in the format `{errors: {message}}`. The line break and the suggestion are
 * documented behavior of the legacy server.
 */
const OTHER_USER = '<br>Please log in as another user.';
const DENIALS: ReadonlySet<string> = new Set<ErrorCode>(['permission_denied', 'credentials_required']);

/** Formats an error in the given form as the body of a reply (rules, 8). */
export function toErrorBody(error: GatewayError, requestId: string, form: ErrorForm): ErrorBody {
  if (form === 'legacy') return json('application/json; charset=utf-8', { error: error.message });
  if (form === 'legacy-message') {
    const message = DENIALS.has(error.code) ? error.message + OTHER_USER : error.message;
    return json('application/json; charset=utf-8', { errors: { message } });
  }
  const facts = { code: error.code, status: error.status, requestId, details: error.details };
  if (form === 'normalized') return json('application/json; charset=utf-8', { error: error.message, ...facts });
  return json('application/problem+json; charset=utf-8', {
    type: `urn:portico:error:${error.code}`,
    title: ERRORS[error.code].title,
    detail: error.message,
    ...facts,
  });
}

function json(contentType: string, value: unknown): ErrorBody {
  return { contentType, body: Buffer.from(JSON.stringify(value)) };
}

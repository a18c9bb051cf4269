import { ERRORS } from './catalogue.ts';
import type { GatewayError } from './gateway-error.ts';

/** The media type and the bytes of an error reply. */
interface ErrorBody {
  readonly contentType: string;
  readonly body: Buffer;
}

/** The format of an error reply: RFC 9457, Portico's own format, or the legacy server's `{error}`. */
export type ErrorForm = 'problem' | 'normalized' | 'legacy';

/** Formats an error in the given form as the body of a reply (rules, 8). */
export function toErrorBody(error: GatewayError, requestId: string, form: ErrorForm): ErrorBody {
  if (form === 'legacy') return json('application/json; charset=utf-8', { error: error.message });
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

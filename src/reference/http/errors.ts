import { jsonResponse, type LegacyResponse } from './legacy-response.ts';

const CHALLENGE = { 'WWW-Authenticate': 'Basic realm="Community"' };

/** Returns an error in the `{error}` shape. */
export function plainError(status: number, message: string): LegacyResponse {
  return jsonResponse({ error: message }, status);
}

/**
 * Returns the response for a missing permission: 401 without a challenge, in the `{errors: {message}}` shape, with an
 * HTML line break in the message (field facts, grade D).
 */
export function missingPermission(): LegacyResponse {
  const message = "You don't have permission to do this action.<br>Please login as another user";
  return jsonResponse({ errors: { message } }, 401);
}

/** Returns 401 with a challenge, in the `{error}` shape, for an invalid credential. */
export function badCredential(): LegacyResponse {
  return jsonResponse({ error: 'Bad credentials' }, 401, CHALLENGE);
}

/** Returns 401 with a challenge and an empty body, for an operation that requires a credential. */
export function missingCredential(): LegacyResponse {
  return { status: 401, headers: CHALLENGE, payload: { kind: 'empty' } };
}

/** Returns 400 for an invalid id in the path, with the message that is documented for the job id. */
export function invalidId(name: string): LegacyResponse {
  return plainError(400, `The provided '${name}' is/are invalid`);
}

/** Returns 404 for a well-formed id that does not exist. */
export function notFound(): LegacyResponse {
  return plainError(404, 'not found');
}

/** Ends an operation early; the app writes its response. */
export class LegacyRefusal extends Error {
  readonly response: LegacyResponse;

  constructor(response: LegacyResponse) {
    super(`refused with ${response.status}`);
    this.name = 'LegacyRefusal';
    this.response = response;
  }
}

/** Ends the operation with the given response. */
export function refuse(response: LegacyResponse): never {
  throw new LegacyRefusal(response);
}

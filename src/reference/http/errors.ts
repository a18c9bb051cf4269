import { jsonAnswer, type LegacyAnswer } from './legacy-response.ts';

const CHALLENGE = { 'WWW-Authenticate': 'Basic realm="Community"' };

/** An error in the `{error}` shape. */
export function plainError(status: number, message: string): LegacyAnswer {
  return jsonAnswer({ error: message }, status);
}

/** The permission failure: 401 without a challenge, in the `{errors: {message}}` shape with an HTML line break (field facts, grade D). */
export function missingPermission(): LegacyAnswer {
  const message = "You don't have permission to do this action.<br>Please login as another user";
  return jsonAnswer({ errors: { message } }, 401);
}

/** 401 with a challenge for a credential that is wrong, in the `{error}` shape. */
export function badCredential(): LegacyAnswer {
  return jsonAnswer({ error: 'Bad credentials' }, 401, CHALLENGE);
}

/** 401 with a challenge and no body, for an operation that needs to know who asks. */
export function missingCredential(): LegacyAnswer {
  return { status: 401, headers: CHALLENGE, payload: { kind: 'empty' } };
}

/** 400 for an id in the path that is no id, worded as documented for the job id. */
export function invalidId(name: string): LegacyAnswer {
  return plainError(400, `The provided '${name}' is/are invalid`);
}

/** 404 for a well-formed id that names nothing. */
export function notFound(): LegacyAnswer {
  return plainError(404, 'not found');
}

/** Carries a refusing answer out of an operation to the one place that writes answers. */
export class LegacyRefusal extends Error {
  readonly answer: LegacyAnswer;

  constructor(answer: LegacyAnswer) {
    super(`refused with ${answer.status}`);
    this.name = 'LegacyRefusal';
    this.answer = answer;
  }
}

/** Ends the operation with the given answer. */
export function refuse(answer: LegacyAnswer): never {
  throw new LegacyRefusal(answer);
}

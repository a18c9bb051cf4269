import { exampleResponse } from './example-response.ts';
import type { FakeResponse, FakeHandler } from './fake-upstream.ts';
import { ownPassword } from './test-gateway.ts';

/** The probe that the upstream verifier sends by default. */
export const PROBE = '/services/v2/jobs/gdpr/0.json';

/**
 * Creates an upstream that accepts users whose password equals their name, or is the password of a kept account. It
 * handles the probe itself and calls `respond` for all other requests.
 */
export function knowing(respond: FakeHandler = exampleResponse, valid: FakeResponse = { status: 404 }): FakeHandler {
  return (request, response) => {
    if (request.path !== PROBE) return respond(request, response);
    const { user = '', password } = request;
    const known = /^[a-z]{1,12}$/.test(user) && (password === user || password === ownPassword(user));
    return known ? valid : { status: 401, json: { error: 'Bad credentials' } };
  };
}

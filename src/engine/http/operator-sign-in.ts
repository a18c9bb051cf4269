import { callbackify } from 'node:util';
import type { Request, RequestHandler } from 'express';
import basicAuth from 'express-basic-auth';
import type { Clock } from '../../lib/clock.ts';
import { createLruMap } from '../../lib/bounded-maps.ts';
import { networkOf } from '../../lib/network-address.ts';
import { createFileVerifier } from '../identity/file-verifier.ts';
import type { Operator } from '../identity/operators-options.ts';
import { createKeyedHash } from '../identity/verify-credential.ts';

/** The limits on hashing operators' passwords. Each hash takes about 19 MiB. */
const HASHING = { concurrency: 2, queue: 16 };

/** How long a correct password is remembered, as a keyed hash, so that the console's requests are not hashed again. */
const REMEMBERED = { seconds: 300, max: 1_000 };

/**
 * Creates the middleware that signs operators in. It calls `next` if a request's `Basic` credential is the name and the
 * password of an operator, and otherwise responds with 401. `refusal` returns the body of that response. Undefined if no
 * operators are configured. Throws a `StartFault` if a password hash is invalid.
 */
export function createOperatorSignIn(
  operators: readonly Operator[],
  clock: Clock,
  refusal: (req: Request) => unknown,
): RequestHandler | undefined {
  if (operators.length === 0) return undefined;
  const verifier = createFileVerifier(operators, HASHING, 'operators', 'exact');
  const hash = createKeyedHash();
  const verifiedAt = createLruMap<string, number>(REMEMBERED.max);
  const verify = async (name: string, password: string, network: string): Promise<boolean> => {
    const key = hash(name, password);
    if (clock() - (verifiedAt.get(key) ?? -Infinity) < REMEMBERED.seconds * 1000) return true;
    const { kind } = await verifier.verify({ name, password, authorization: '' }, false, network);
    if (kind === 'valid') verifiedAt.set(key, clock());
    return kind === 'valid';
  };
  return (req, res, next) => {
    const network = networkOf(req.socket.remoteAddress ?? '');
    const signIn = basicAuth({
      authorizeAsync: true,
      authorizer: callbackify((name: string, password: string) =>
        // An error in this callback would end the process, so a password that cannot be verified counts as wrong.
        verify(name, password, network).catch(() => false),
      ),
      unauthorizedResponse: () => refusal(req),
    });
    signIn(req as basicAuth.IBasicAuthedRequest, res, next);
  };
}

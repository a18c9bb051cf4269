import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ErrorKind } from '../../engine/errors/catalogue.ts';
import { GatewayError } from '../../engine/errors/gateway-error.ts';
import type { PublicMiddleware } from '../../engine/http/public-app.ts';
import type { TakenRequest } from '../../engine/http/public-handler.ts';
import type { FeatureContext } from '../../engine/feature.ts';
import { createOwnWindows } from '../../engine/sharing/alone/own-windows.ts';
import { parseBounded, parsedValue } from '../../lib/bounded-json.ts';
import { type Clock, HOUR_MS } from '../../lib/clock.ts';
import { readBody } from '../../lib/read-body.ts';
import { TOKEN_NOT_ALLOWED } from './admit-token.ts';
import { type Enrollment, WRONG_PASSWORD } from './enrollment.ts';
import type { Unchanged } from './manage-tokens.ts';
import { isInNetworks } from './networks.ts';
import { isRefused, readOwnPassword } from './read-request.ts';
import { endOf, isoOf, type TokenRecord } from './token-record.ts';
import type { TokenStore } from './token-store.ts';
import type { TokensAtWork } from './tokens-at-work.ts';
import { ACTIONS } from './tokens-routes.ts';

/** The error for a password that the upstream refuses. */
export const PASSWORD_REFUSED: ErrorKind = {
  code: 'password_refused',
  status: 403,
  title: 'Password refused by the upstream',
};

/** The path, below that of the API. */
export const PASSWORD_PATH = 'tokens/password';

/** The methods of the path. */
export const PASSWORD_METHODS = ['GET', 'PUT', 'DELETE'] as const;

/** A body with one password. */
const MAX_BODY_BYTES = 4_096;
const BODY_LIMITS = { depth: 4, values: 16 };
const SILENCE_MS = 10_000;

/** What the path needs. */
interface ServeParts extends Pick<FeatureContext<unknown>, 'acted' | 'clock'> {
  readonly path: string;
  readonly atWork: Pick<TokensAtWork, 'usedBy'>;
  readonly store: Pick<TokenStore, 'get' | 'written'>;
  readonly enrollment: Enrollment;
}

/**
 * Returns middleware that lets the holder of a token enroll the password of the account, or delete it. The token shows who
 * asks, and the upstream whether the password is right.
 */
export function servePassword(parts: ServeParts): PublicMiddleware {
  const admit = createChangeLimit(parts.clock);
  return (req, res, next, gateway) => {
    // This runs for each request, so most of them are recognized by their text alone.
    const request = req.url?.includes(parts.path) === true ? gateway.take(req, res) : undefined;
    if (request?.path !== parts.path) next();
    else void serve(request, req, res, parts, admit).catch((error: unknown) => request.refuse(error));
  };
}

async function serve(
  request: TakenRequest,
  req: IncomingMessage,
  res: ServerResponse,
  { atWork, store, enrollment, acted, clock }: ServeParts,
  admit: (id: string) => void,
): Promise<void> {
  const { principal } = await request.authenticate();
  const used = atWork.usedBy(principal);
  if (used === undefined)
    throw new GatewayError(TOKEN_NOT_ALLOWED, 'A password belongs to a token: send one that Portico has issued.');
  if (used.networks !== undefined && !isInNetworks(request.clientAddress, used.networks))
    throw new GatewayError(TOKEN_NOT_ALLOWED, 'This token is not accepted from the address of the client.');
  const { id } = used;
  const respond = (record: TokenRecord | Unchanged, more: object = {}) => {
    const bytes = Buffer.from(JSON.stringify({ ...factsOf(record), ...more }));
    request.begin(200, [...HEADERS, 'Content-Length', String(bytes.length)]);
    res.end(bytes);
  };
  const changed = async (record: TokenRecord | Unchanged, action: string) => {
    if (typeof record !== 'string')
      await acted({ at: clock(), actor: 'caller', way: 'api', action, outcome: 'done', subject: { token: id } });
    respond(record, { stored: await store.written() });
  };
  const isRemoval = request.method === 'DELETE';
  if (request.method === 'GET' || (isRemoval && used.sealed === undefined)) return respond(store.get(id) ?? 'unknown');
  if (isRemoval) {
    admit(id);
    return changed(enrollment.remove(id), ACTIONS['/unenroll']);
  }
  if (request.method !== 'PUT')
    throw new GatewayError('method_not_allowed', 'This path accepts only GET, PUT and DELETE.', {
      headers: { Allow: PASSWORD_METHODS.join(', ') },
    });
  const password = await passwordIn(req);
  admit(id);
  const outcome = await enrollment.enroll(id, password, request.clientAddress);
  if (outcome === 'wrong') throw new GatewayError(PASSWORD_REFUSED, WRONG_PASSWORD);
  return changed(outcome, ACTIONS['/enroll']);
}

/** How often the password of a token can be changed in an hour. */
const MAX_CHANGES = 20;
const MAX_COUNTED = 1_000;

/**
 * Returns a function that counts a change, and throws an error if there were too many. Each change asks the upstream and
 * adds to the audit trail, whose earlier entries a caller must not displace.
 */
function createChangeLimit(clock: Clock): (id: string) => void {
  const changes = createOwnWindows(clock, MAX_COUNTED);
  return (id) => {
    const { waitMs } = changes.add([{ name: 'token', texts: [id], limit: MAX_CHANGES }], HOUR_MS);
    if (waitMs > 0)
      throw new GatewayError(
        'too_many_attempts',
        'The password of this token was changed too often; try again later.',
        { headers: { 'Retry-After': String(Math.ceil(waitMs / 1000)) } },
      );
  };
}

const HEADERS = ['Content-Type', 'application/json; charset=utf-8', 'Cache-Control', 'private, no-store'];

/** What the holder of a token is told about it. */
function factsOf(record: TokenRecord | Unchanged): object {
  // It was valid a moment ago.
  if (typeof record === 'string') throw new GatewayError('credentials_refused', 'The token has just ended.');
  const { id, caller, sealed } = record;
  return { token: id, for: caller, ends: isoOf(endOf(record)), enrolled: sealed !== undefined };
}

/** Reads the password. No message contains anything of the body. */
async function passwordIn(req: IncomingMessage): Promise<string> {
  const body = await readBody(req, { bytes: MAX_BODY_BYTES, silenceMs: SILENCE_MS });
  if (body.state === 'broken') throw new GatewayError('request_timeout', 'The body did not arrive.');
  if (body.state === 'larger')
    throw new GatewayError('body_too_large', `The body must have at most ${MAX_BODY_BYTES} bytes.`);
  const read = readOwnPassword(parsedValue(parseBounded(body.bytes, BODY_LIMITS)));
  if (!isRefused(read)) return read.password;
  throw new GatewayError('invalid_body', 'The body must be a JSON object with the member password.', {
    details: read.map(({ field, message }) => ({ in: 'body', name: field === '' ? '' : `/${field}`, message })),
  });
}

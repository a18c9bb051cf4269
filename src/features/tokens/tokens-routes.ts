import express, { type RequestHandler, type Response, type Router } from 'express';
import { needsSignIn } from '../../engine/config/settings.ts';
import type { FeatureContext } from '../../engine/feature.ts';
import { noteAction } from '../../engine/http/admin-actions.ts';
import type { AdminRoute } from '../../engine/http/admin-route.ts';
import { GatewayError } from '../../engine/errors/gateway-error.ts';
import type { Clock } from '../../lib/clock.ts';
import { type Enrollment, WRONG_PASSWORD } from './enrollment.ts';
import type { IssuedToken, TokenManager, Unchanged } from './manage-tokens.ts';
import { isRefused, readEnrollment, readNewToken, readRotation, readTokenId, type TokenFault } from './read-request.ts';
import { endOf, isoOf, stateOf, type TokenRecord } from './token-record.ts';
import type { TokenStore } from './token-store.ts';

const MAX_BODY_BYTES = 65_536;

/** Why tokens cannot be changed on an admin side without sign-in. */
const NO_SIGN_IN = 'Tokens can be changed only by operators who sign in: set adminToken or operators.';

/** Why no password can be enrolled in `observe` mode. */
const NOT_IN_OBSERVE =
  'Passwords cannot be enrolled in observe mode, in which the gateway does not ask the upstream whether they are right.';

/** What the routes about tokens need. */
export interface RouteParts extends Pick<FeatureContext<unknown>, 'operations' | 'gateway' | 'settings'> {
  readonly store: TokenStore;
  readonly manager: TokenManager;
  /** Undefined if passwords cannot be stored. */
  readonly enrollment: Enrollment | undefined;
  readonly maxDays: number;
  readonly clock: Clock;
}

/**
 * Creates the router that lists tokens without their secrets, and lets operators create, replace and revoke them. In a
 * response, `stored` is false if a change took effect but could not be stored. `guard` protects the changes.
 */
export function createTokensRouter(parts: RouteParts, guard: readonly RequestHandler[] = []): Router {
  const { store, manager, enrollment, maxDays, clock, operations, gateway, settings } = parts;
  const router = express.Router();
  // Whoever can create a token can act for every account, so on loopback, too, only those who sign in can.
  const onlyOperators: RequestHandler = (_req, res, next) => {
    if (needsSignIn(settings)) next();
    else res.status(403).json({ error: NO_SIGN_IN });
  };
  // The guards must run before the request body is read.
  const writes = [...guard, onlyOperators, express.json({ limit: MAX_BODY_BYTES })];
  const shown = (record: TokenRecord) => shownToken(record, clock());
  /** Responds to a change, once it is stored and the other gateways can see it. */
  const respond = async (res: Response, changed: TokenRecord | Unchanged, body: (record: TokenRecord) => object) => {
    if (typeof changed === 'string') refuseChange(res, changed);
    else res.json({ ...body(changed), stored: await store.written() });
  };
  const respondIssued = async (res: Response, issued: IssuedToken | Unchanged, more: object = {}) => {
    if (typeof issued !== 'string') noteAction(res, { after: auditedGrant(issued.record) });
    await respond(res, typeof issued === 'string' ? issued : issued.record, (record) => ({
      ...more,
      created: shown(record),
      // This is the only place where the token is ever shown.
      token: typeof issued === 'string' ? undefined : issued.text,
    }));
  };
  router.get('/', (_req, res) => {
    res.json({
      tokens: store.all().map(shown).toReversed(),
      enrollment: enrollment !== undefined,
      maxDays,
    });
  });
  router.post('/', ...writes, async ({ body }, res) => {
    const requested = readNewToken(body, {
      now: clock(),
      maxDays,
      operations: operations.map(({ id }) => id),
      accessOf: (caller) => gateway().accountAccess(caller),
    });
    if (isRefused(requested)) refuse(res, requested);
    else {
      const issued = manager.create(requested);
      if (typeof issued !== 'string') noteAction(res, { subject: { token: issued.record.id } });
      await respondIssued(res, issued);
    }
  });
  router.post('/rotate', ...writes, async ({ body }, res) => {
    const requested = readRotation(body, { maxDays });
    if (isRefused(requested)) return refuse(res, requested);
    const { id, overlapHours, days } = requested;
    noteAction(res, { subject: { token: id } });
    const issued = manager.rotate(id, overlapHours, days);
    const replaced = store.get(id);
    return respondIssued(res, issued, replaced && { replaced: shown(replaced) });
  });
  router.post('/revoke', ...writes, async ({ body }, res) => {
    const requested = readTokenId(body);
    if (isRefused(requested)) return refuse(res, requested);
    noteAction(res, { subject: { token: requested.id } });
    return respond(res, manager.revoke(requested.id), (record) => ({ revoked: shown(record) }));
  });
  router.post('/enroll', ...writes, async ({ body, socket }, res) => {
    const requested = readEnrollment(body);
    if (isRefused(requested)) return refuse(res, requested);
    const { id, password } = requested;
    if (settings.mode.transparent) {
      noteAction(res, { subject: { token: id } });
      res.status(409).json({ error: NOT_IN_OBSERVE });
      return undefined;
    }
    return changePassword(res, id, (into) => into.enroll(id, password, socket.remoteAddress ?? ''));
  });
  router.post('/unenroll', ...writes, async ({ body }, res) => {
    const requested = readTokenId(body);
    if (isRefused(requested)) return refuse(res, requested);
    return changePassword(res, requested.id, (into) => into.remove(requested.id));
  });
  async function changePassword(
    res: Response,
    id: string,
    change: (into: Enrollment) => ReturnType<Enrollment['enroll']> | ReturnType<Enrollment['remove']>,
  ): Promise<void> {
    noteAction(res, { subject: { token: id } });
    if (enrollment === undefined) {
      res.status(409).json({ error: 'Passwords cannot be enrolled: tokens.sealingKeyFile is not set.' });
      return;
    }
    try {
      const changed = await change(enrollment);
      if (changed === 'wrong') res.status(400).json({ error: WRONG_PASSWORD, field: 'password' });
      else await respond(res, changed, (record) => ({ changed: shown(record) }));
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error;
      res.status(error.status).set(error.headers).json({ error: error.message });
    }
  }
  return router;
}

/** A token as operators see it. */
export type ShownToken = ReturnType<typeof shownToken>;

function shownToken(record: TokenRecord, now: number) {
  const { id, caller, scope, operations, networks, note, createdAt, lastUsedAt, sealed } = record;
  return {
    id,
    for: caller,
    scope,
    ...(operations && { operations }),
    ...(networks && { networks }),
    ...(note !== undefined && { note }),
    state: stateOf(record, now),
    created: isoOf(createdAt),
    ends: isoOf(endOf(record)),
    ...(lastUsedAt !== undefined && { lastUsed: isoOf(lastUsedAt) }),
    enrolled: sealed !== undefined,
  };
}

/** What the audit trail says of a token. It does not name the caller, because the trail contains no personal data. */
const auditedGrant = ({ id, scope, operations, networks, expiresAt }: TokenRecord) => ({
  token: id,
  scope,
  ...(operations && { operations }),
  ...(networks && { networks }),
  ends: isoOf(expiresAt),
});

/** The names of the changes, by the end of the path. */
export const ACTIONS = {
  '/': 'token created',
  '/rotate': 'token rotated',
  '/revoke': 'token revoked',
  '/enroll': 'token password enrolled',
  '/unenroll': 'token password removed',
};

/** Returns the part of the admin side about tokens. */
export const tokensRoutes = (parts: RouteParts): readonly AdminRoute[] => [
  { path: '/tokens', access: 'operator', handler: createTokensRouter(parts), actions: ACTIONS },
];

const UNCHANGED: Readonly<Record<Unchanged, readonly [status: number, error: string]>> = {
  unknown: [404, 'There is no token with this id.'],
  ended: [409, 'This token has already ended.'],
  full: [409, 'There are too many tokens. Those that ended 30 days ago are removed.'],
};

function refuseChange(res: Response, unchanged: Unchanged): void {
  const [status, error] = UNCHANGED[unchanged];
  res.status(status).json({ error, field: 'id' });
}

function refuse(res: Response, faults: readonly TokenFault[]): void {
  const error = faults.map(({ message }) => message).join(' ');
  res.status(400).json({ error, field: faults[0]?.field, faults });
}

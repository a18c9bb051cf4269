import type { IncomingMessage } from 'node:http';
import type { RequestHandler, Response } from 'express';
import type { Clock } from '../../lib/clock.ts';
import { isPlainObject } from '../../lib/plain-object.ts';
import { trimEndOf } from '../../lib/trim-end.ts';
import type { ActionOrigin, OperatorAction } from '../model/operator-action.ts';
import { isSafe } from '../model/safe-methods.ts';
import type { AdminRoute } from './admin-route.ts';

/** What a request handler knows about an operator's action. */
export interface ActionNote extends Partial<Omit<OperatorAction, 'at' | 'from'>> {
  /** True if the operator has just signed in with this request. */
  readonly signedIn?: boolean;
  /** True if the request changes nothing, or if its change is reported separately. */
  readonly isReported?: boolean;
}

/** Adds to what is known about the action for which an operator has sent a request. */
export function noteAction(res: Response, note: ActionNote): void {
  notes.set(res, { ...noted(res), ...note });
  // The sign-in precedes the changes that the operator makes with the same request.
  if (note.signedIn === true) signIns.get(res)?.();
}

const signIns = new WeakMap<Response, () => void>();

const notes = new WeakMap<Response, ActionNote>();
const noted = (res: Response): ActionNote => notes.get(res) ?? {};

/** Returns who sent a request, and from where. Must be called after the guard of the admin side. */
export function originOf(req: Pick<IncomingMessage, 'socket'>, res: Response): ActionOrigin {
  const { actor = 'unknown', by, way = 'api' } = noted(res);
  return { actor, ...(by !== undefined && { by }), from: req.socket.remoteAddress, way };
}

/** Notes the way and the name of the change that a request to a route stands for. */
export function noteRoute({ actions = {}, way = 'api' }: Pick<AdminRoute, 'actions' | 'way'>): RequestHandler {
  const names = Object.entries(actions).map(([end, action]) => [trimEndOf(end, '/'), action] as const);
  return (req, res, next) => {
    const path = trimEndOf(req.path, '/');
    const isChange = !isSafe(req.method);
    const found = isChange && names.find(([end]) => (end === '' ? path === '' : path.endsWith(end)));
    noteAction(res, { way, ...(found && { action: found[1] }) });
    next();
  };
}

/**
 * Reports every change that is requested on the admin side, whether it is made or refused, as well as each time that an
 * operator signs in or fails to. An action is reported before the response is sent.
 */
export function reportActions(acted: (action: OperatorAction) => unknown, clock: Clock): RequestHandler {
  return (req, res, next) => {
    let sentReason: string | undefined;
    const json = res.json.bind(res);
    res.json = (body: unknown) => {
      if (isPlainObject(body) && typeof body['error'] === 'string') sentReason = body['error'];
      return json(body);
    };
    const writeHead = res.writeHead.bind(res) as (...args: unknown[]) => Response;
    signIns.set(res, () => acted({ at: clock(), ...originOf(req, res), action: 'sign in', outcome: 'done' }));
    let isDone = false;
    const finish = () => {
      if (isDone) return;
      isDone = true;
      const {
        signedIn: _,
        isReported,
        action,
        reason,
        outcome,
        actor: _actor,
        by: _by,
        way: _way,
        ...details
      } = noted(res);
      if (isReported === true || (action === undefined && (isSafe(req.method) || res.statusCode === 404))) return;
      const told = outcome ?? (res.statusCode >= 500 ? 'failed' : res.statusCode >= 400 ? 'refused' : 'done');
      const why = told === 'done' ? undefined : (reason ?? sentReason);
      acted({
        at: clock(),
        ...originOf(req, res),
        action: action ?? 'change',
        outcome: told,
        ...(why !== undefined && { reason: why }),
        ...details,
      });
    };
    res.writeHead = ((...args: unknown[]) => {
      finish();
      return writeHead(...args);
    }) as Response['writeHead'];
    // If the client has gone away, no response is sent, but the change was still made.
    res.once('close', finish);
    next();
  };
}

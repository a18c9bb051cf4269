import type { IncomingMessage } from 'node:http';
import type { RequestHandler, Response } from 'express';
import type { Clock } from '../../lib/clock.ts';
import { isPlainObject } from '../../lib/plain-object.ts';
import type { AuditAction, AuditEntry, Origin } from './audit-entry.ts';
import type { AuditTrail } from './audit-trail.ts';

/** What a request handler knows about a change, for its entry in the audit trail. */
export interface AuditNote extends Partial<Pick<AuditEntry, 'subject' | 'before' | 'after' | 'reason'>> {
  /** Needed only if the action does not follow from the request's path. */
  readonly action?: AuditAction;
  readonly outcome?: AuditEntry['outcome'];
  readonly actor?: Origin['actor'];
  readonly by?: string | undefined;
  /** True if the operator has just signed in with this request. */
  readonly signedIn?: boolean;
  /** True if the request changes nothing, or if its change already has an entry. */
  readonly needsNoEntry?: boolean;
}

/** Adds to what is known about the change that a request makes. */
export function noteAudit(res: Response, note: AuditNote): void {
  notes.set(res, { ...noted(res), ...note });
  // The entry precedes those of the changes that the operator makes with the same request.
  if (note.signedIn === true) signIns.get(res)?.();
}

const signIns = new WeakMap<Response, () => void>();

const notes = new WeakMap<Response, AuditNote>();
const noted = (res: Response): AuditNote => notes.get(res) ?? {};

/** Returns who sent a request, and from where. Must be called after the guard of the admin side. */
export function originOf(
  req: Pick<IncomingMessage, 'socket'> & { readonly originalUrl: string },
  res: Response,
): Origin {
  const { actor = 'unknown', by } = noted(res);
  const way = /^\/console(?:[/?]|$)/i.test(req.originalUrl) ? 'console' : 'api';
  return { actor, ...(by !== undefined && { by }), from: req.socket.remoteAddress, way };
}

const SAFE: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS']);

/** The ends of the paths at which the admin side and the console make changes. */
const ACTIONS: readonly (readonly [end: string, action: AuditAction])[] = [
  ['/cache/purge', 'purge'],
  ['/reload', 'reload'],
  ['/overrides/end', 'override ended'],
  ['/overrides', 'override set'],
  ['/ladder/lift', 'lift'],
  ['/accept', 'accept'],
  ['/withdraw', 'withdraw'],
  ['/api/try', 'try'],
];

/** Returns the change that a path stands for. */
function actionAt(url: string): AuditNote | undefined {
  const path = url.split('?', 1)[0] ?? '';
  const action = ACTIONS.find(([end]) => path.endsWith(end))?.[1];
  return action && { action };
}

/**
 * Records every change that is requested on the admin side, whether it is made or refused, as well as each time that an
 * operator signs in or fails to. The entry exists before the response is sent.
 */
export function auditRequests(trail: Pick<AuditTrail, 'record'>, clock: Clock): RequestHandler {
  return (req, res, next) => {
    let sentReason: string | undefined;
    const json = res.json.bind(res);
    res.json = (body: unknown) => {
      if (isPlainObject(body) && typeof body['error'] === 'string') sentReason = body['error'];
      return json(body);
    };
    const writeHead = res.writeHead.bind(res) as (...args: unknown[]) => Response;
    signIns.set(res, () => {
      void trail.record({ at: clock(), ...originOf(req, res), action: 'sign in', outcome: 'done' });
    });
    let isDone = false;
    const finish = () => {
      if (isDone) return;
      isDone = true;
      const {
        signedIn: _signedIn,
        needsNoEntry,
        action,
        actor: _actor,
        by: _by,
        reason,
        outcome,
        ...details
      } = {
        ...(!SAFE.has(req.method) && actionAt(req.originalUrl)),
        ...noted(res),
      };
      const origin = { at: clock(), ...originOf(req, res) };
      if (needsNoEntry === true || (action === undefined && (SAFE.has(req.method) || res.statusCode === 404))) return;
      const told = outcome ?? (res.statusCode >= 500 ? 'failed' : res.statusCode >= 400 ? 'refused' : 'done');
      const why = told === 'done' ? undefined : (reason ?? sentReason);
      void trail.record({
        ...origin,
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

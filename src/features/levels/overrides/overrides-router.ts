import express, { type RequestHandler, type Response, type Router } from 'express';
import type { Overrides } from './create-overrides.ts';
import { noteAction, originOf } from '../../../engine/http/admin-actions.ts';
import type { AdminRoute } from '../../../engine/http/admin-route.ts';
import type { OperatorAction } from '../../../engine/model/operator-action.ts';
import { overrideEventJson } from './override-event.ts';
import { overrideJson } from './override-files.ts';
import { operatorName } from '../../../engine/model/operator-name.ts';
import type { OverrideFault } from './read-override.ts';
import { membersOf } from '../../../lib/plain-object.ts';

const MAX_BODY_BYTES = 65_536;

/** The maximum number of events in a response. */
const SHOWN_EVENTS = 100;

/** Returns the admin side's route for overrides. `actions` returns the latest actions of operators. */
export function overridesRoute(overrides: Overrides, actions: () => Promise<readonly OperatorAction[]>): AdminRoute {
  return {
    path: '/overrides',
    access: 'operator',
    handler: createOverridesRouter(overrides, actions),
    actions: OVERRIDE_ACTIONS,
  };
}

/** The changes at the ends of the router's paths. */
export const OVERRIDE_ACTIONS = { '/': 'override set', '/end': 'override ended' };

/**
 * Creates the router that lets operators list, set and end overrides, both on the admin side and in the console.
 * `guard` protects the changes. In a response, `stored` is false if a change took effect but could not be written to
 * the file.
 */
export function createOverridesRouter(
  overrides: Overrides,
  actions: () => Promise<readonly OperatorAction[]>,
  guard: readonly RequestHandler[] = [],
): Router {
  const router = express.Router();
  // The guard must run before the request body is read.
  const writes = [...guard, express.json({ limit: MAX_BODY_BYTES })];
  router.get('/', async (_req, res) => {
    const events = (await actions()).flatMap((action) => overrideEventJson(action) ?? []).slice(-SHOWN_EVENTS);
    res.json({ overrides: overrides.active().map(overrideJson), events: events.toReversed() });
  });
  router.post('/', ...writes, async (req, res) => {
    const set = overrides.set(req.body, originOf(req, res));
    if ('operation' in set) {
      noteAction(res, { isReported: true });
      res.json({ override: overrideJson(set), stored: await overrides.written() });
    } else refuse(res, set);
  });
  router.post('/end', ...writes, async (req, res) => {
    const { operation, change, by } = membersOf(req.body);
    if (typeof operation !== 'string' || (change !== undefined && typeof change !== 'string')) {
      const message = 'Name an operation and, to end only one override, its change.';
      refuse(res, [{ field: typeof operation === 'string' ? 'change' : 'operation', message }]);
      return;
    }
    const origin = originOf(req, res);
    const ended = overrides.end(operation, change, { ...origin, by: operatorName(by) ?? origin.by });
    if (ended.length === 0) res.status(404).json({ error: 'This operation has no such override.' });
    else {
      noteAction(res, { isReported: true });
      res.json({ ended: ended.map(overrideJson), stored: await overrides.written() });
    }
  });
  return router;
}

function refuse(res: Response, faults: readonly OverrideFault[]): void {
  const error = faults.map(({ message }) => message).join(' ');
  res.status(400).json({ error, field: faults[0]?.field, faults });
}

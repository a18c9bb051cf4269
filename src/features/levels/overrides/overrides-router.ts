import express, { type RequestHandler, type Response, type Router } from 'express';
import type { Overrides } from './create-overrides.ts';
import type { AuditTrail } from '../../trail/audit-trail.ts';
import { noteAudit, originOf } from '../../trail/audit-requests.ts';
import { overrideEventJson } from './override-event.ts';
import { overrideJson } from './override-files.ts';
import { operatorName } from '../../trail/operator-name.ts';
import type { OverrideFault } from './read-override.ts';
import { membersOf } from '../../../lib/plain-object.ts';

const MAX_BODY_BYTES = 65_536;

/** The maximum number of events in a response. */
const SHOWN_EVENTS = 100;

/**
 * Creates the router that lets operators list, set and end overrides, both on the admin side and in the console.
 * `guard` protects the changes. In a response, `stored` is false if a change took effect but could not be written to
 * the file.
 */
export function createOverridesRouter(
  overrides: Overrides,
  trail: Pick<AuditTrail, 'entries'>,
  guard: readonly RequestHandler[] = [],
): Router {
  const router = express.Router();
  // The guard must run before the request body is read.
  const writes = [...guard, express.json({ limit: MAX_BODY_BYTES })];
  router.get('/', async (_req, res) => {
    const events = (await trail.entries()).flatMap((entry) => overrideEventJson(entry) ?? []).slice(-SHOWN_EVENTS);
    res.json({ overrides: overrides.active().map(overrideJson), events: events.toReversed() });
  });
  router.post('/', ...writes, async (req, res) => {
    const set = overrides.set(req.body, originOf(req, res));
    if ('operation' in set) {
      noteAudit(res, { needsNoEntry: true });
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
      noteAudit(res, { needsNoEntry: true });
      res.json({ ended: ended.map(overrideJson), stored: await overrides.written() });
    }
  });
  return router;
}

function refuse(res: Response, faults: readonly OverrideFault[]): void {
  const error = faults.map(({ message }) => message).join(' ');
  res.status(400).json({ error, field: faults[0]?.field, faults });
}

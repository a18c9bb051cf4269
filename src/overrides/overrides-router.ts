import type { IncomingMessage } from 'node:http';
import express, { type RequestHandler, type Response, type Router } from 'express';
import { parseBasicCredentials } from '../lib/basic-credentials.ts';
import type { Overrides } from './create-overrides.ts';
import type { Operator } from './override.ts';
import { eventJson, overrideJson } from './override-files.ts';
import { operatorName, type OverrideFault } from './read-override.ts';
import { membersOf } from '../lib/plain-object.ts';

const MAX_BODY_BYTES = 65_536;

/**
 * Creates the router that lets operators list, set and end overrides, both on the admin side and in the console.
 * `guard` protects the changes. In a response, `stored` is false if a change took effect but could not be written to
 * the file.
 */
export function createOverridesRouter(overrides: Overrides, guard: readonly RequestHandler[] = []): Router {
  const router = express.Router();
  // The guard must run before the request body is read.
  const writes = [...guard, express.json({ limit: MAX_BODY_BYTES })];
  router.get('/', (_req, res) => {
    const events = overrides.events().map(eventJson).toReversed();
    res.json({ overrides: overrides.active().map(overrideJson), events });
  });
  router.post('/', ...writes, async (req, res) => {
    const set = overrides.set(req.body, operatorOf(req));
    if ('operation' in set) res.json({ override: overrideJson(set), stored: await overrides.written() });
    else refuse(res, set);
  });
  router.post('/end', ...writes, async (req, res) => {
    const { operation, change, by } = membersOf(req.body);
    if (typeof operation !== 'string' || (change !== undefined && typeof change !== 'string')) {
      const message = 'Name an operation and, to end only one override, its change.';
      refuse(res, [{ field: typeof operation === 'string' ? 'change' : 'operation', message }]);
      return;
    }
    const operator = operatorOf(req);
    const ended = overrides.end(operation, change, { ...operator, by: operatorName(by) ?? operator.by });
    if (ended.length === 0) res.status(404).json({ error: 'This operation has no such override.' });
    else res.json({ ended: ended.map(overrideJson), stored: await overrides.written() });
  });
  return router;
}

function refuse(res: Response, faults: readonly OverrideFault[]): void {
  const error = faults.map(({ message }) => message).join(' ');
  res.status(400).json({ error, field: faults[0]?.field, faults });
}

/** Returns the operator who sent a request. Operators enter their name together with the admin token. */
function operatorOf({ headers, socket }: Pick<IncomingMessage, 'headers' | 'socket'>): Operator {
  const name = parseBasicCredentials(headers.authorization ?? '')?.name;
  return { by: operatorName(name), from: socket.remoteAddress };
}

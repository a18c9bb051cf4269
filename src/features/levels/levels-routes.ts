import express, { type RequestHandler, type Response, type Router } from 'express';
import type { FeatureContext } from '../../engine/feature.ts';
import { noteAction, originOf } from '../../engine/http/admin-actions.ts';
import type { AdminRoute } from '../../engine/http/admin-route.ts';
import { CHECKS, OPERATION_CHECKS } from '../../engine/model/checks.ts';
import { operatorName } from '../../engine/model/operator-name.ts';
import { HOUR_MS } from '../../lib/clock.ts';
import { membersOf } from '../../lib/plain-object.ts';
import { overrideJson } from './former-files.ts';
import { decisionWords } from './in-force.ts';
import type { LadderRow } from './ladder-rows.ts';
import { type LevelEntry, OVERRIDABLE_CHECKS } from './level-entry.ts';
import { entryJson } from './levels-file.ts';
import type { OpenLevels } from './open-levels.ts';
import { overrideEventJson } from './override-event.ts';
import type { OverrideFault } from './read-override.ts';

const MAX_BODY_BYTES = 65_536;

/** The maximum number of events in a response. */
const SHOWN_EVENTS = 100;

/** The checks that an override can change, as the console offers them: those about the upstream's responses first. */
const OVERRIDE_MENU = OVERRIDABLE_CHECKS.toSorted(
  (a, b) => Number(CHECKS[b].judges === 'response') - Number(CHECKS[a].judges === 'response'),
);

/** What the routes about levels need. */
export interface RouteParts extends Pick<FeatureContext<unknown>, 'actions' | 'records' | 'clock'> {
  readonly levels: OpenLevels;
  /** The length of the period that the ladder's rows cover, in hours. */
  readonly windowHours: number;
}

/**
 * Creates the router that lists all levels that differ from the configuration, and lets operators set and end them. In a
 * response, `stored` is false if a change took effect but could not be stored. `guard` protects the changes.
 */
export function createLevelsRouter(parts: RouteParts, guard: readonly RequestHandler[] = []): Router {
  const { levels, actions, records, clock, windowHours } = parts;
  const { store, ladder, overrides } = levels;
  const router = express.Router();
  // The guard must run before the request body is read.
  const writes = [...guard, express.json({ limit: MAX_BODY_BYTES })];
  router.get('/', async (_req, res) => {
    const entries = [...store.decisions(), ...overrides.active()].map(shownEntry);
    const events = (await actions()).flatMap((action) => overrideEventJson(action) ?? []).slice(-SHOWN_EVENTS);
    const active = overrides.active().map(overrideJson);
    res.json({ entries, checks: OVERRIDE_MENU, overrides: active, events: events.toReversed() });
  });
  router.get('/ladder', async (_req, res) => {
    const snapshot = await records.snapshot({ since: clock() - windowHours * HOUR_MS });
    res.json({ windowHours, rows: ladder.rows(snapshot).map(shownRow) });
  });
  router.post('/', ...writes, async (req, res) => {
    const set = overrides.set(req.body, originOf(req, res));
    if ('operation' in set) {
      noteAction(res, { isReported: true });
      res.json({ override: overrideJson(set), stored: await levels.written() });
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
      res.json({ ended: ended.map(overrideJson), stored: await levels.written() });
    }
  });
  router.post('/lift', ...writes, async ({ body }, res) => {
    const { operation, check } = membersOf(body);
    const known = OPERATION_CHECKS.find((one) => one === check);
    if (typeof operation !== 'string' || known === undefined) {
      res.status(400).json({ error: 'Provide an operation and a check.' });
      return;
    }
    const isKnown = ladder.levels().some((one) => one.operation === operation);
    noteAction(res, { subject: { operation: isKnown ? operation : 'unknown', check } });
    const lifted = ladder.lift(operation, known);
    if (lifted === undefined) {
      res.status(409).json({ error: 'This check already has its configured level.' });
      return;
    }
    // The response comes only once the other gateways can see the change.
    const stored = await levels.written();
    noteAction(res, { before: { move: lifted.move } });
    res.json({ lifted: { operation, check }, stored });
  });
  return router;
}

/** Returns a row as the console shows it. */
function shownRow({ step, ...row }: LadderRow) {
  if (step === undefined) return row;
  const { judged, failed, windowSeconds, move, since: at } = step;
  return Object.assign(row, { step: { judged, failed, windowSeconds, move, at } });
}

/** Returns an entry as the admin side shows it: with its level, its reason and its end, if it has one. */
function shownEntry(entry: LevelEntry) {
  if (entry.source === 'operator') return entryJson(entry);
  const level = { promoted: 'enforce', demoted: 'report', lifted: 'configured' }[entry.move];
  return { ...entryJson(entry), level, reason: decisionWords(entry) };
}

/** The names of the changes, by the end of the path. */
export const ACTIONS = { '/': 'override set', '/end': 'override ended', '/lift': 'lift' };

/** Returns the parts of the admin side about levels. `/overrides` is the earlier name of `/levels`. */
export function levelsRoutes(parts: RouteParts): readonly AdminRoute[] {
  const handler = createLevelsRouter(parts);
  return [
    { path: '/levels', access: 'operator', handler, actions: ACTIONS },
    { path: '/overrides', access: 'operator', handler, actions: ACTIONS },
  ];
}

function refuse(res: Response, faults: readonly OverrideFault[]): void {
  const error = faults.map(({ message }) => message).join(' ');
  res.status(400).json({ error, field: faults[0]?.field, faults });
}

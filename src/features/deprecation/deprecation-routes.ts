import express, { type RequestHandler, type Response, type Router } from 'express';
import { noteAction, originOf } from '../../engine/http/admin-actions.ts';
import { lineOf } from '../../engine/model/operator-name.ts';
import type { Clock } from '../../lib/clock.ts';
import { membersOf } from '../../lib/plain-object.ts';
import { type Brownout, type DeprecatedEntries, type DeprecatedEntry, isoOf, subjectOf } from './deprecated-entries.ts';
import type { DeprecationStore } from './deprecation-store.ts';
import { decisionJson, readDecision, type RequestFault } from './revocations.ts';
import { CLAIMED, type UsageLimits, type UsageRow } from './usage.ts';

const MAX_BODY_BYTES = 16_384;

/** The number of rows in a response, unless the request asks for another one. */
const SHOWN_ROWS = 500;
const MAX_ROWS = 20_000;

/** The longest name of an account whose tag can be asked for. */
const MAX_NAME = 200;

/** What the routes need. */
export interface RouteParts {
  readonly store: DeprecationStore;
  readonly entries: DeprecatedEntries;
  readonly limits: Pick<UsageLimits, 'isDeprecated'>;
  readonly clock: Clock;
}

/** The names of the changes, by the end of the path. */
export const ACTIONS = { '/revoke': 'brown-out revoked', '/restore': 'brown-out restored' };

/**
 * Creates the router that lists what is deprecated and who still uses it, and lets operators revoke and restore
 * brown-outs. In a response, `stored` is false if a change took effect but could not be stored. `guard` protects the
 * changes.
 */
export function createDeprecationRouter(parts: RouteParts, guard: readonly RequestHandler[] = []): Router {
  const { store, entries, clock } = parts;
  const router = express.Router();
  // The guard must run before the request body is read.
  const writes = [...guard, express.json({ limit: MAX_BODY_BYTES })];
  const brownouts = new Map(entries.all.flatMap((entry) => entry.brownouts.map((one) => [one.id, { ...one, entry }])));
  const decide =
    (isRevoked: boolean): RequestHandler =>
    async (req, res) => {
      const origin = originOf(req, res);
      const decision = readDecision(req.body, brownouts, { isRevoked, origin, at: clock() });
      if (!('brownout' in decision)) {
        refuse(res, decision);
        return;
      }
      const { brownout, reason, by } = decision;
      const found = brownouts.get(brownout);
      if (found === undefined) throw new Error('the brown-out is not configured');
      noteAction(res, {
        ...(by !== undefined && { by }),
        subject: { brownout, about: subjectOf(found.entry), from: isoOf(found.from), to: isoOf(found.to) },
        before: { revoked: store.isRevoked(brownout) },
        after: { revoked: isRevoked, reason },
      });
      const stored = await store.decide(decision);
      res.json({ brownout: brownoutJson(found, store, clock()), stored });
    };
  router.get('/', (req, res) => {
    res.json(overview(parts, queryOf(req.query)));
  });
  router.post('/revoke', ...writes, decide(true));
  router.post('/restore', ...writes, decide(false));
  // The name is in the body, because addresses are logged.
  router.post('/caller', ...writes, async (req, res) => {
    noteAction(res, { isReported: true });
    const name = lineOf(membersOf(req.body)['name']);
    if (name === undefined || name.length > MAX_NAME) {
      refuse(res, [{ field: 'name', message: 'Give the name of an account in one line.' }]);
      return;
    }
    await store.tags.read();
    const caller = store.tags.tagOf(name);
    if (caller === undefined) res.status(503).json({ error: 'The key of the tags is not known yet. Try again.' });
    else res.json({ caller, claimed: `${CLAIMED}${caller}` });
  });
  return router;
}

interface Selection {
  readonly operation: string | undefined;
  readonly isAll: boolean;
  readonly limit: number;
}

function queryOf({ operation, all, limit }: Readonly<Record<string, unknown>>): Selection {
  const wanted = typeof limit === 'string' && /^\d{1,5}$/.test(limit) ? Number(limit) : SHOWN_ROWS;
  return {
    operation: typeof operation === 'string' && operation !== '' ? operation : undefined,
    isAll: all === 'true',
    limit: Math.min(wanted, MAX_ROWS),
  };
}

/** Returns what is deprecated, and the rows of the selection: those about something deprecated first, then the latest. */
function overview({ store, entries, limits, clock }: RouteParts, { operation, isAll, limit }: Selection) {
  const now = clock();
  const { rows, removed } = store.usage();
  const all = [...rows.values()].map((row) => ({ row, isDeprecated: limits.isDeprecated(row) }));
  const selected = all
    .filter(({ row, isDeprecated }) => (isAll || isDeprecated) && (operation ?? row.operation) === row.operation)
    .toSorted(
      (a, b) =>
        Number(b.isDeprecated) - Number(a.isDeprecated) || b.row.lastSeen - a.row.lastSeen || b.row.count - a.row.count,
    );
  return {
    takenAt: isoOf(now),
    entries: entries.all.map((entry) => entryJson(entry, [...rows.values()], store, now)),
    rows: selected.slice(0, limit).map(({ row, isDeprecated }) => rowJson(row, isDeprecated)),
    found: selected.length,
    removed,
  };
}

function entryJson(entry: DeprecatedEntry, rows: readonly UsageRow[], store: DeprecationStore, now: number) {
  const { operations, parameter, since, sunset, refuseAfterSunset, link, successor, note, dryRun, brownouts } = entry;
  const part = parameter === undefined ? 'operation' : 'parameter';
  const own = rows.filter(
    (row) => row.part === part && row.name === (parameter ?? '') && operations.includes(row.operation),
  );
  const lastSeen = own.reduce((latest, row) => Math.max(latest, row.lastSeen), 0);
  return {
    subject: subjectOf(entry),
    operations,
    parameter,
    since: isoOf(since),
    sunset: sunset === undefined ? undefined : isoOf(sunset),
    refuseAfterSunset,
    link,
    successor,
    note,
    dryRun,
    state: stateOf(entry, now),
    requests: own.reduce((sum, row) => sum + row.count, 0),
    callers: new Set(own.map(({ caller }) => caller)).size,
    lastSeen: lastSeen === 0 ? undefined : isoOf(lastSeen),
    brownouts: brownouts.map((one) => brownoutJson(one, store, now)),
  };
}

function stateOf({ since, sunset, refuseAfterSunset }: DeprecatedEntry, now: number): string {
  if (sunset !== undefined && sunset <= now) return refuseAfterSunset ? 'gone' : 'past its sunset';
  return since > now ? 'announced' : 'deprecated';
}

function brownoutJson({ id, from, to }: Brownout, store: DeprecationStore, now: number) {
  const decision = store.decisionOn(id);
  const state = to <= now ? 'over' : from <= now ? 'in progress' : 'scheduled';
  return {
    id,
    from: isoOf(from),
    to: isoOf(to),
    state: store.isRevoked(id) ? 'revoked' : state,
    ...(decision && { decision: decisionJson(decision) }),
  };
}

const rowJson = ({ firstSeen, lastSeen, ...row }: UsageRow, isDeprecated: boolean) => ({
  ...row,
  deprecated: isDeprecated,
  firstSeen: isoOf(firstSeen),
  lastSeen: isoOf(lastSeen),
});

function refuse(res: Response, faults: readonly RequestFault[]): void {
  const error = faults.map(({ message }) => message).join(' ');
  res.status(400).json({ error, field: faults[0]?.field, faults });
}

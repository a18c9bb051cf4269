import express, { type RequestHandler, type Response, type Router } from 'express';
import { noteAction, originOf } from '../../engine/http/admin-actions.ts';
import { operatorName } from '../../engine/model/operator-name.ts';
import { membersOf } from '../../lib/plain-object.ts';
import { type Decision, decisionJson, isShare, reasonOf } from './cutover-state.ts';
import type { CutoverStore, NewDecision } from './cutover-store.ts';
import { type CutoverOptions, EVERY, UNDOCUMENTED } from './options.ts';
import { type KnownOperation, percentOf, sharesUnder, type Shares } from './shares.ts';
import type { Watch } from './watch.ts';

const MAX_BODY_BYTES = 16_384;

/** What the routes need. */
export interface RouteParts {
  readonly store: CutoverStore;
  readonly given: CutoverOptions;
  readonly operations: readonly KnownOperation[];
  readonly watch: Pick<Watch, 'counts'>;
  readonly shares: () => Shares;
  readonly isPaused: () => boolean;
}

/** The names of the changes, by the end of the path. */
export const ACTIONS = {
  '/set': 'cut-over share set',
  '/freeze': 'cut-over frozen',
  '/return': 'cut-over returned',
  '/resume': 'cut-over resumed',
};

/** Why a request of an operator is refused: the member that is wrong, and what to do. */
interface RequestFault {
  readonly field: string;
  readonly message: string;
}

/** What an operator asks for. Forward means that more callers get to the new server, which needs somebody's name. */
interface Asked {
  readonly change: Pick<NewDecision, 'phase' | 'shares' | 'moves'>;
  readonly isForward: boolean;
  readonly subject: Readonly<Record<string, unknown>>;
  readonly words: string;
}

/**
 * Creates the router that shows the cut-over and lets operators change it. In a response, `stored` is false if a change
 * took effect but could not be stored, and `shared` if other gateways have not heard of it. `guard` protects the changes.
 */
export function createCutoverRouter(parts: RouteParts, guard: readonly RequestHandler[] = []): Router {
  const { store } = parts;
  const router = express.Router();
  // The guard must run before the request body is read.
  const writes = [...guard, express.json({ limit: MAX_BODY_BYTES })];
  const change =
    (
      ask: (latest: Decision, body: Readonly<Record<string, unknown>>) => Asked | readonly RequestFault[],
    ): RequestHandler =>
    async (req, res) => {
      const before = store.latest();
      const body = membersOf(req.body);
      const asked = ask(before, body);
      const faults: RequestFault[] = 'change' in asked ? [] : [...asked];
      const origin = originOf(req, res);
      const by = operatorName(body['by']) ?? origin.by;
      if (body['by'] !== undefined && body['by'] !== '' && operatorName(body['by']) === undefined)
        faults.push({ field: 'by', message: 'The name must be one line of at most 100 characters.' });
      else if (by === undefined && 'change' in asked && asked.isForward)
        faults.push({ field: 'by', message: 'State your name: only a named person moves callers to the new server.' });
      const reason = body['reason'] === undefined || body['reason'] === '' ? undefined : reasonOf(body['reason']);
      if (reason === undefined && body['reason'] !== undefined && body['reason'] !== '')
        faults.push({ field: 'reason', message: 'Give the reason in one line, without a credential.' });
      if (!('change' in asked) || faults.length > 0) {
        refuse(res, faults);
        return;
      }
      const { decision, kept } = store.decide({
        ...asked.change,
        cause: 'operator',
        reason: reason ?? asked.words,
        by,
        from: origin.from,
      });
      noteAction(res, {
        ...(by !== undefined && { by }),
        subject: asked.subject,
        before: { phase: before.phase, shares: before.shares },
        after: { phase: decision.phase, shares: decision.shares, reason: decision.reason },
      });
      const how = await kept;
      if (how === undefined) {
        const { phase, reason: why } = store.latest();
        const error = `Another gateway has decided at the same time, and its decision counts: ${phase} (${why}).`;
        res.status(409).json({ error });
        return;
      }
      res.json({ decision: decisionJson(decision), ...how });
    };
  router.get('/', (_req, res) => {
    res.json(overview(parts));
  });
  router.post(
    '/set',
    ...writes,
    change((latest, body) => askedShare(parts, latest, body)),
  );
  router.post(
    '/freeze',
    ...writes,
    change(({ phase }) =>
      phase === 'running'
        ? { change: { phase: 'frozen' }, isForward: false, subject: {}, words: 'frozen by an operator' }
        : [{ field: '', message: `The cut-over is ${phase} already.` }],
    ),
  );
  router.post(
    '/return',
    ...writes,
    change(({ phase }) =>
      phase === 'returned'
        ? [{ field: '', message: 'The cut-over has returned already.' }]
        : {
            change: { phase: 'returned', moves: 'back' },
            isForward: false,
            subject: {},
            words: 'returned by an operator',
          },
    ),
  );
  router.post(
    '/resume',
    ...writes,
    change(({ phase }) =>
      phase === 'running'
        ? [{ field: '', message: 'The cut-over is running.' }]
        : {
            change: { phase: 'running', moves: phase === 'returned' ? 'forward' : undefined },
            isForward: true,
            subject: {},
            words: 'resumed by an operator',
          },
    ),
  );
  return router;
}

/** Reads the request to set a share. */
function askedShare(
  { given, operations }: RouteParts,
  latest: Decision,
  { operation, share }: Readonly<Record<string, unknown>>,
): Asked | readonly RequestFault[] {
  const taking = Object.keys(given.operations);
  const hasEvery = given.operations[EVERY] !== undefined;
  const readIds = hasEvery ? operations.flatMap(({ id, method }) => (method === 'GET' ? [id] : [])) : [];
  const known = new Set([...taking, ...readIds]);
  const faults: RequestFault[] = [];
  if (typeof operation !== 'string' || !known.has(operation))
    faults.push({ field: 'operation', message: 'Name * or an operation that takes part; portico cutover lists them.' });
  if (!isShare(share)) faults.push({ field: 'share', message: 'Give the share of the callers in percent, 0 to 100.' });
  if (faults.length > 0 || typeof operation !== 'string' || !isShare(share)) return faults;
  const shares = { ...latest.shares, [operation]: share };
  // What is set under a return has no effect yet, but would have with resume.
  const before = sharesUnder(given, operations, { phase: 'running', shares: latest.shares });
  const after = sharesUnder(given, operations, { phase: 'running', shares });
  const ids = [...operations.map(({ id }) => id), UNDOCUMENTED];
  const changed = ids.filter((id) => after.of(id) !== before.of(id));
  const isForward = changed.some((id) => (after.of(id) ?? 0) > (before.of(id) ?? 0));
  if (isForward && latest.phase !== 'running')
    return [{ field: 'share', message: `The cut-over is ${latest.phase}: resume it before you raise a share.` }];
  const moves = changed.length === 0 ? undefined : isForward ? 'forward' : 'back';
  return { change: { shares, moves }, isForward, subject: { operation }, words: `${operation} set to ${share}%` };
}

/** Returns what operators see. */
function overview({ store, given, operations, watch, shares, isPaused }: RouteParts) {
  const { decisions } = store.state();
  const now = shares();
  const counts = watch.counts().filter(({ exchanges }) => exchanges > 0);
  return {
    url: given.url,
    phase: store.latest().phase,
    decision: decisionJson(store.latest()),
    decisions: decisions.map(decisionJson),
    paused: isPaused(),
    staying: store.staying(),
    return: given.return,
    operations: [...operations.map(({ id }) => id), UNDOCUMENTED].flatMap((id) => {
      const share = now.of(id);
      return share === undefined ? [] : [{ operation: id, share: percentOf(share) }];
    }),
    counts,
  };
}

function refuse(res: Response, faults: readonly RequestFault[]): void {
  const error = faults.map(({ message }) => message).join(' ');
  res.status(400).json({ error, field: faults[0]?.field, faults });
}

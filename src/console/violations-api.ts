import express, { type RequestHandler, type Router } from 'express';
import { endOfDay, isDay } from '../ledger/baseline/parse-baseline.ts';
import type { AcceptedViolation } from '../model/ledger-entry.ts';
import type { ConsoleSources } from './console-sources.ts';
import { queryNumber, queryText } from './query-values.ts';
import { filterViolations, violationRows } from './violation-rows.ts';

const PAGE_SIZE = 25;
const NO_BASELINE = 'To accept violations, set contract.baseline to a file and restart.';

/** Creates the API for violations: a filtered list, a single violation, and acceptance. */
export function createViolationsApi(sources: ConsoleSources, writes: RequestHandler): Router {
  const { ledger, baseline, clock } = sources;
  const router = express.Router();
  const read = async (release = '') => {
    const [snapshot, accepted] = await Promise.all([ledger.snapshot(), baseline?.read()]);
    return { snapshot, rows: violationRows(snapshot, accepted, clock(), release) };
  };
  const acceptance = { file: baseline?.file, reason: baseline === undefined ? NO_BASELINE : undefined };

  router.get('/', async ({ query }, res) => {
    const { snapshot, rows: all } = await read(queryText(query, 'release'));
    const [category, direction, operation, check, release, state, text] = [
      'category',
      'direction',
      'operation',
      'check',
      'release',
      'state',
      'text',
    ].map((name) => queryText(query, name)) as [string, string, string, string, string, string, string];
    const { rows, facets } = filterViolations(all, { category, direction, operation, check, release, state, text });
    const page = queryNumber(query, 'page', { from: 1, to: 100_000, other: 1 });
    const { dropped, releases, takenAt } = snapshot;
    res.json({ ...pageOf(rows, page, PAGE_SIZE), facets, releases, dropped, takenAt, all: all.length, acceptance });
  });

  router.get('/:fingerprint', async ({ params: { fingerprint } }, res) => {
    const { snapshot, rows } = await read();
    const row = rows.find((one) => one.fingerprint === fingerprint);
    const entry = snapshot.entries.find((one) => one.fingerprint === fingerprint);
    if (row === undefined || entry === undefined) {
      res.status(404).json({ error: 'The ledger does not contain this violation; it may have expired.' });
    } else res.json({ ...row, samples: entry.samples, acceptance });
  });

  router.post('/:fingerprint/accept', writes, async ({ params, body }, res) => {
    const fingerprint = String(params['fingerprint']);
    const { rows } = await read();
    const row = rows.find((one) => one.fingerprint === fingerprint);
    if (row === undefined) {
      res.status(404).json({ error: 'The ledger does not contain this violation; it may have expired.' });
      return;
    }
    if (baseline === undefined) {
      res.status(409).json({ error: NO_BASELINE });
      return;
    }
    const summary = `${row.operation ?? 'outside the contract'}: ${row.message}`;
    const asked = readAcceptRequest(body, { fingerprint, summary, now: clock() });
    if (!asked.ok) {
      res.status(400).json({ error: asked.message, field: asked.field });
      return;
    }
    try {
      await baseline.accept(asked.accepted);
      res.json({ accepted: asked.accepted });
    } catch (error) {
      // The file was damaged or removed after the start; the log has the details.
      sources.onError(error);
      res.status(500).json({ error: `Writing ${baseline.file} failed; the log has the cause.` });
    }
  });
  return router;
}

/** An operator's request to accept a violation, or the field that is invalid. */
type AcceptRequest =
  | { readonly ok: true; readonly accepted: AcceptedViolation }
  | { readonly ok: false; readonly field: 'reason' | 'owner' | 'expires'; readonly message: string };

const MAX = { reason: 500, owner: 100 };

/** Reads reason, owner and last day from a body. */
export function readAcceptRequest(
  body: unknown,
  about: { readonly fingerprint: string; readonly summary: string; readonly now: number },
): AcceptRequest {
  const given = typeof body === 'object' && body !== null ? (body as Record<string, unknown>) : {};
  const reason = textOf(given['reason']);
  const owner = textOf(given['owner']);
  const end = given['expires'] ?? '';
  const expires = textOf(end);
  if (reason === '' || reason.length > MAX.reason)
    return refuse('reason', `Provide a reason of at most ${MAX.reason} characters.`);
  if (owner === '' || owner.length > MAX.owner)
    return refuse('owner', `Provide an owner of at most ${MAX.owner} characters.`);
  // An unreadable date must not become an acceptance without an end.
  if (typeof end !== 'string' || (expires !== '' && !isDay(expires)))
    return refuse('expires', 'Enter the last day as YYYY-MM-DD, or leave it empty.');
  if (expires !== '' && endOfDay(expires) <= about.now)
    return refuse('expires', 'The last day is in the past; enter a later day, or leave it empty.');
  const { fingerprint, summary } = about;
  return { ok: true, accepted: { fingerprint, reason, owner, expires: expires === '' ? undefined : expires, summary } };
}

type Field = Exclude<AcceptRequest, { ok: true }>['field'];

const refuse = (field: Field, message: string) => ({ ok: false, field, message }) as const;

// One line, because people read the baseline file line by line.
const textOf = (value: unknown) => (typeof value === 'string' ? value.replaceAll(/[\s\p{Cc}]+/gu, ' ').trim() : '');

/** One page of a list. */
interface ListPage<T> {
  readonly rows: readonly T[];
  /** From 1; the last page if a later one was requested. */
  readonly page: number;
  readonly pageCount: number;
  readonly total: number;
}

/** Returns one page of a list; an empty list has one empty page. */
function pageOf<T>(all: readonly T[], page: number, pageSize: number): ListPage<T> {
  const pageCount = Math.max(1, Math.ceil(all.length / pageSize));
  const shown = Math.min(Math.max(1, page), pageCount);
  return { rows: all.slice((shown - 1) * pageSize, shown * pageSize), page: shown, pageCount, total: all.length };
}

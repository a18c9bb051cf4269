import express, { type RequestHandler, type Router } from 'express';
import { readAcceptRequest } from './accept-request.ts';
import type { ConsoleSources } from './console-sources.ts';
import { pageOf } from './page-of.ts';
import { queryNumber, queryText } from './query-values.ts';
import { filterViolations } from './violation-filter.ts';
import { violationRows } from './violation-rows.ts';

const PAGE_SIZE = 25;
const NO_BASELINE = 'Set contract.baseline to a file, and restart: accepted violations are kept there.';

/** The violations: a filtered list, one of them, and accepting one. */
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
      res.status(404).json({ error: 'The ledger does not know this violation; it may have been forgotten.' });
    } else res.json({ ...row, samples: entry.samples, acceptance });
  });

  router.post('/:fingerprint/accept', writes, async ({ params, body }, res) => {
    const fingerprint = String(params['fingerprint']);
    const { rows } = await read();
    const row = rows.find((one) => one.fingerprint === fingerprint);
    if (row === undefined) {
      res.status(404).json({ error: 'The ledger does not know this violation; it may have been forgotten.' });
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
      // The file was broken or taken away since the start: the log tells how.
      sources.onError(error);
      res.status(500).json({ error: `${baseline.file} cannot be written now; the log has the cause.` });
    }
  });
  return router;
}

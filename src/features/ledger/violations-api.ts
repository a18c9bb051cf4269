import express, { type RequestHandler, type Router } from 'express';
import { endOfDay, isDay } from '../../lib/clock.ts';
import { type AcceptedViolation, isContractViolation, isOutage } from '../../engine/model/ledger-entry.ts';
import type { FeatureContext } from '../../engine/feature.ts';
import { createContractPlaces } from '../../engine/contract/contract-places.ts';
import type { PageFailed } from '../../engine/http/operator-page.ts';
import { withLatestDrift } from '../../engine/model/release-drift.ts';
import { suggestFix } from '../../engine/contract/suggest-fix.ts';
import { queryNumber, queryText } from '../../lib/query-values.ts';
import { membersOf } from '../../lib/plain-object.ts';
import { containsCredential } from '../../engine/privacy/secret-text.ts';
import { noteAction } from '../../engine/http/admin-actions.ts';
import { causeRows, isNew, neverRefuses, type ViolationRow, violationRows } from './violation-rows.ts';

const PAGE_SIZE = 25;
/** The number of characters in a fingerprint. */
const MAX_FINGERPRINT = 16;

/** The parts of an acceptance that the audit trail records. */
const detailsOf = ({ reason, owner, expires }: AcceptedViolation) => ({ reason, owner, expires });

const OUTAGE = 'This is a failure of the upstream. Fix it instead of accepting it.';
const NO_BASELINE = 'To accept violations, set contract.baseline to a file and restart.';

const MAX_BODY_BYTES = 65_536;

/**
 * Creates the API for violations. It returns a filtered list by cause or a single violation, and lets operators accept
 * violations.
 */
export function createViolationsApi(
  context: Pick<FeatureContext<unknown>, 'records' | 'gateway' | 'clock' | 'settings' | 'operations'>,
  guard: RequestHandler,
  failed: PageFailed,
): Router {
  const { records, gateway, clock, settings, operations } = context;
  const placeOf = createContractPlaces(settings.contract.folder, operations, process.cwd());
  const baselineNow = () => gateway().acceptance();
  const router = express.Router();
  // The guard runs before the body is read.
  const writes = [guard, express.json({ limit: MAX_BODY_BYTES })];
  const read = async (release = '', replica = '') => {
    const wanted = { history: true, ...(replica !== '' && { replica }) };
    const snapshot = withLatestDrift(await records.snapshot(wanted), release === '' ? undefined : release);
    return { snapshot, rows: violationRows(snapshot, baselineNow()?.read(), clock(), release) };
  };
  const storedOf = (fingerprint: string) => {
    const known = baselineNow()
      ?.read()
      .accepted.find((one) => one.fingerprint === fingerprint);
    return known && detailsOf(known);
  };
  const acceptanceNow = () => {
    const baseline = baselineNow();
    return { file: baseline?.file, reason: baseline === undefined ? NO_BASELINE : undefined };
  };

  router.get('/', async ({ query }, res) => {
    const { snapshot, rows: all } = await read(queryText(query, 'release'), queryText(query, 'replica'));
    const [category, direction, operation, check, release, state, text] = [
      'category',
      'direction',
      'operation',
      'check',
      'release',
      'state',
      'text',
    ].map((name) => queryText(query, name)) as [string, string, string, string, string, string, string];
    const { rows: found, facets } = filterViolations(all, {
      category,
      direction,
      operation,
      check,
      release,
      state,
      text,
    });
    const sorting = sortingOf(queryText(query, 'sort'), queryText(query, 'order'));
    const causes = causeRows(found, {
      compare: comparatorOf(sorting),
      checksOf: (id) => gateway().checksOf(id),
      open: queryText(query, 'open'),
    });
    const page = queryNumber(query, 'page', { from: 1, to: 100_000, fallback: 1 });
    const { dropped, releases, takenAt } = snapshot;
    const replicas = (snapshot.replicas ?? []).map((one) => one.replica);
    res.json({
      ...pageOf(causes, page, PAGE_SIZE),
      total: found.length,
      causes: causes.length,
      ...sorting,
      facets,
      releases,
      replicas,
      dropped,
      takenAt,
      all: all.filter(isContractViolation).length,
      acceptance: acceptanceNow(),
    });
  });

  router.get('/:fingerprint', async ({ params: { fingerprint } }, res) => {
    const { snapshot, rows } = await read();
    const row = rows.find((one) => one.fingerprint === fingerprint);
    const entry = snapshot.entries.find((one) => one.fingerprint === fingerprint);
    if (row === undefined || entry === undefined) {
      res.status(404).json({ error: 'The ledger does not contain this violation; it may have expired.' });
    } else {
      const place = placeOf(entry);
      const { file, line, pointer } = place;
      const fix = suggestFix(entry, place, settings.profile.basePath);
      res.json({
        ...row,
        samples: entry.samples,
        place: { file, line, pointer },
        fix,
        acceptance: { ...acceptanceNow(), ...(isOutage(row) && { reason: OUTAGE }) },
      });
    }
  });

  router.post('/:fingerprint/withdraw', ...writes, async (req, res) => {
    const fingerprint = String(req.params['fingerprint']);
    const before = storedOf(fingerprint);
    const baseline = baselineNow();
    noteAction(res, { subject: { fingerprint: fingerprint.slice(0, MAX_FINGERPRINT) }, ...(before && { before }) });
    if (baseline === undefined) {
      res.status(409).json({ error: NO_BASELINE });
      return;
    }
    try {
      if (await baseline.withdraw(fingerprint)) res.json({ withdrawn: fingerprint });
      else res.status(404).json({ error: `${baseline.file} does not contain this violation.` });
    } catch (error) {
      failed(error, req);
      res.status(500).json({ error: `Writing ${baseline.file} failed; see the log for the cause.` });
    }
  });

  router.post('/:fingerprint/accept', ...writes, async (req, res) => {
    const fingerprint = String(req.params['fingerprint']);
    noteAction(res, { subject: { fingerprint: fingerprint.slice(0, MAX_FINGERPRINT) } });
    const { rows } = await read();
    const row = rows.find((one) => one.fingerprint === fingerprint);
    if (row === undefined) {
      res.status(404).json({ error: 'The ledger does not contain this violation; it may have expired.' });
      return;
    }
    const baseline = baselineNow();
    if (baseline === undefined) {
      res.status(409).json({ error: NO_BASELINE });
      return;
    }
    if (isOutage(row)) {
      res.status(409).json({ error: OUTAGE });
      return;
    }
    const summary = `${row.operation ?? 'not in the contract'}: ${row.message}`;
    const form = readAcceptRequest(req.body, { fingerprint, summary, now: clock() });
    if (!form.ok) {
      res.status(400).json({ error: form.message, field: form.field });
      return;
    }
    const before = storedOf(fingerprint);
    noteAction(res, { ...(before && { before }), after: detailsOf(form.accepted) });
    try {
      await baseline.accept(form.accepted);
      res.json({ accepted: form.accepted });
    } catch (error) {
      // The baseline file was damaged or removed after startup. The log contains the details.
      failed(error, req);
      res.status(500).json({ error: `Writing ${baseline.file} failed; see the log for the cause.` });
    }
  });
  return router;
}

/** An operator's request to accept a violation, or the name of an invalid form field. */
type AcceptRequest =
  | { readonly ok: true; readonly accepted: AcceptedViolation }
  | { readonly ok: false; readonly field: 'reason' | 'owner' | 'expires'; readonly message: string };

const MAX = { reason: 500, owner: 100 };

/** Reads the reason, owner and last day of an acceptance from a request body. */
export function readAcceptRequest(
  body: unknown,
  about: { readonly fingerprint: string; readonly summary: string; readonly now: number },
): AcceptRequest {
  const form = membersOf(body);
  const reason = textOf(form['reason']);
  const owner = textOf(form['owner']);
  const end = form['expires'] ?? '';
  const expires = textOf(end);
  if (reason === '' || reason.length > MAX.reason)
    return refuse('reason', `Provide a reason of at most ${MAX.reason} characters.`);
  if (containsCredential(reason)) return refuse('reason', 'The reason must not contain a credential.');
  if (owner === '' || owner.length > MAX.owner)
    return refuse('owner', `Provide an owner of at most ${MAX.owner} characters.`);
  // An invalid date is refused, because otherwise the acceptance would never expire.
  if (typeof end !== 'string' || (expires !== '' && !isDay(expires)))
    return refuse('expires', 'Enter the last day as YYYY-MM-DD, or leave it empty.');
  if (expires !== '' && endOfDay(expires) <= about.now)
    return refuse('expires', 'The last day is in the past. Enter a later day, or leave it empty.');
  const { fingerprint, summary } = about;
  return { ok: true, accepted: { fingerprint, reason, owner, expires: expires === '' ? undefined : expires, summary } };
}

type Field = Exclude<AcceptRequest, { ok: true }>['field'];

const refuse = (field: Field, message: string) => ({ ok: false, field, message }) as const;

// Line breaks are replaced, because people review the baseline file line by line.
const textOf = (value: unknown) => (typeof value === 'string' ? value.replaceAll(/[\s\p{Cc}]+/gu, ' ').trim() : '');

interface ListPage<T> {
  readonly rows: readonly T[];
  /** The page number, starting at 1. If the requested page is past the end, this is the last page's number. */
  readonly page: number;
  readonly pageCount: number;
}

/** Returns a page of a list. If the list is empty, returns one empty page. */
function pageOf<T>(all: readonly T[], page: number, pageSize: number): ListPage<T> {
  const pageCount = Math.max(1, Math.ceil(all.length / pageSize));
  const shown = Math.min(Math.max(1, page), pageCount);
  return { rows: all.slice((shown - 1) * pageSize, shown * pageSize), page: shown, pageCount };
}

/** The columns by which the list can be sorted, each with a function that returns a row's value. */
const SORT_VALUES = {
  impact: () => 0,
  violation: ({ message }) => message,
  operation: ({ operation }) => operation ?? UNDOCUMENTED,
  category: ({ category }) => category,
  state: (row) => (isNew(row) ? 1 : 0),
  count: ({ count }) => count,
  share: ({ share }) => share ?? -1,
  callers: ({ callers }) => callers,
  first: ({ firstSeenAt }) => firstSeenAt,
  last: ({ lastSeenAt }) => lastSeenAt,
} satisfies Record<string, (row: ViolationRow) => string | number>;

/** The sort column and direction. */
interface Sorting {
  readonly sort: keyof typeof SORT_VALUES;
  readonly order: 'up' | 'down';
}

function sortingOf(sort: string, order: string): Sorting {
  const known = Object.hasOwn(SORT_VALUES, sort) ? (sort as Sorting['sort']) : 'impact';
  return { sort: known, order: order === 'up' ? 'up' : 'down' };
}

/**
 * Returns a comparator for rows. Rows with equal values are ordered by impact: first violations that are not accepted,
 * then those that can cause a refusal, then the most frequent ones.
 */
export function comparatorOf({ sort, order }: Sorting): (a: ViolationRow, b: ViolationRow) => number {
  const sortValue: (row: ViolationRow) => string | number = SORT_VALUES[sort];
  const sign = order === 'down' ? -1 : 1;
  return (a, b) => {
    const [one, other] = [sortValue(a), sortValue(b)];
    const compared = typeof one === 'string' ? one.localeCompare(String(other), 'en') : one - Number(other);
    return sort === 'impact' ? -sign * byImpact(a, b) : compared * sign || byImpact(a, b);
  };
}

function byImpact(a: ViolationRow, b: ViolationRow): number {
  return (
    Number(isNew(b)) - Number(isNew(a)) ||
    Number(neverRefuses(a)) - Number(neverRefuses(b)) ||
    b.count - a.count ||
    (b.share ?? 0) - (a.share ?? 0) ||
    (a.fingerprint < b.fingerprint ? -1 : 1)
  );
}

/** A filter for violations. An empty value matches all violations. */
export interface ViolationFilter {
  readonly category: string;
  readonly direction: string;
  readonly operation: string;
  readonly check: string;
  readonly release: string;
  /** `new` or `accepted`, or an empty string for both. */
  readonly state: string;
  /** Text that a row must contain, ignoring case. */
  readonly text: string;
}

/** The filter value that represents undocumented paths. */
const UNDOCUMENTED = 'undocumented';

/** For each filter, the number of rows with each value. A row is counted only if it matches all other filters. */
type Facets = Readonly<Record<Facet, Readonly<Record<string, number>>>>;

type Facet = 'category' | 'direction' | 'operation' | 'check' | 'state';
const FACETS: readonly Facet[] = ['category', 'direction', 'operation', 'check', 'state'];

/**
 * Returns the rows that match all filters, and the number of rows for each value of each filter. Rows that are not
 * violations of the contract are returned only if the filter names their check: `upstream` for failures of the upstream,
 * and `errors` for status changes.
 */
export function filterViolations(
  rows: readonly ViolationRow[],
  filter: ViolationFilter,
): { readonly rows: readonly ViolationRow[]; readonly facets: Facets } {
  const matches = (row: ViolationRow, without?: Facet) =>
    FACETS.every((facet) => facet === without || filter[facet] === '' || valueOf(row, facet) === filter[facet]) &&
    (without === 'check' || filter.check !== '' || isContractViolation(row)) &&
    (filter.release === '' || Object.hasOwn(row.releases, filter.release)) &&
    containsText(row, filter.text.toLowerCase());
  const facets = FACETS.map((facet) => {
    const counts: Record<string, number> = {};
    for (const row of rows) {
      const value = valueOf(row, facet);
      if (matches(row, facet)) counts[value] = (counts[value] ?? 0) + 1;
    }
    return [facet, counts] as const;
  });
  return { rows: rows.filter((row) => matches(row)), facets: Object.fromEntries(facets) as Record<Facet, never> };
}

function valueOf(row: ViolationRow, facet: Facet): string {
  if (facet === 'state') return isNew(row) ? 'new' : 'accepted';
  if (facet === 'operation') return row.operation ?? UNDOCUMENTED;
  if (facet === 'check' && isOutage(row)) return 'upstream';
  return row[facet];
}

function containsText(row: ViolationRow, text: string): boolean {
  if (text === '') return true;
  const { at, message, keyword, schemaPath, fingerprint, operation = UNDOCUMENTED } = row;
  return [at, message, keyword, schemaPath, fingerprint, operation].some((part) => part.toLowerCase().includes(text));
}

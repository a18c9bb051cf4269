import { METHODS } from 'node:http';
import express, { type RequestHandler, type Router } from 'express';
import { settingLeaves } from '../../engine/config/changed-keys.ts';
import { needsSignIn, type Origin, type Settings } from '../../engine/config/settings.ts';
import { HOUR_MS } from '../../lib/clock.ts';
import { pointerTo } from '../../lib/json-pointer.ts';
import { CHECK_NAMES } from '../../engine/model/checks.ts';
import { isSecret } from '../../engine/config/configurable.ts';
import type { UpstreamHealth } from '../../engine/upstream/upstream-health.ts';
import type { Sharing } from '../../engine/sharing/sharing.ts';
import type { ExplainRequest } from '../../engine/pipeline/dry-run.ts';
import { explainLine } from '../../engine/pipeline/explain.ts';
import { packageVersion } from '../../lib/package-root.ts';
import type { ConsoleSources } from './console-sources.ts';
import { type ListedPage, listedPages } from './listed-pages.ts';
import { queryNumber, queryText } from '../../lib/query-values.ts';
import { trafficView } from './traffic-view.ts';
import { upstreamView } from './upstream-view.ts';
import { createWriteGuard, READ_ONLY_REASON } from '../../engine/http/write-guard.ts';
import { membersOf } from '../../lib/plain-object.ts';
import { reloadNote } from '../../engine/config/reload-note.ts';
import { noteAction } from '../../engine/http/admin-actions.ts';

const MAX_BODY_BYTES = 65_536;
const MINUTES = { from: 1, to: 60, fallback: 15 };
/** The number of hours that the counts on the fleet page cover. */
const FLEET_HOURS = 24;
const TAGS = { from: 1, to: 100, fallback: 25 };

/** Creates the API for the console's pages. It returns their data and makes the changes that the console allows. */
export function createApi(sources: ConsoleSources): Router {
  const { gateway, records, clock, sharing } = sources;
  const router = express.Router();
  // The guard runs before the body is read.
  const guard = createWriteGuard(needsSignIn(sources.settings));
  const writes = [guard, express.json({ limit: MAX_BODY_BYTES })];

  router.get('/status', (_req, res) => void res.json(statusView(sources)));
  router.get('/traffic', ({ query }, res) => {
    const minutes = queryNumber(query, 'minutes', MINUTES);
    res.json(trafficView(sources, { minutes, operation: queryText(query, 'operation') }));
  });
  router.get('/upstream', ({ query }, res) => {
    res.json(upstreamView(sources, queryNumber(query, 'minutes', MINUTES)));
  });
  router.get('/configuration', (_req, res) => {
    res.json({ file: sources.settings.file, rows: configurationRows(sources.settings) });
  });
  router.post('/configuration/reload', ...writes, async (_req, res) => {
    // A refused reload is not an HTTP error, because the page shows why the reload was refused.
    const result = await gateway().reload();
    noteAction(res, reloadNote(result));
    res.json(result);
  });
  router.get('/permissions', (_req, res) => void res.json(gateway().permissions()));
  // The request can contain a body, which must not become part of a URL. It changes nothing, so it needs no token.
  router.post('/explain', withoutEntry, express.json({ limit: MAX_BODY_BYTES }), async ({ body }, res) => {
    const form = explainRequest(membersOf(body), sources.settings.profile);
    if (form.ok) res.json({ lines: (await gateway().explain(form.request)).map(explainLine) });
    else res.status(400).json({ error: form.message, field: form.field });
  });
  router.get('/fleet', async (_req, res) => {
    const snapshot = await records.snapshot({ since: clock() - FLEET_HOURS * HOUR_MS });
    res.json({ hours: FLEET_HOURS, instances: sharing.instances.list(), replicas: snapshot.replicas ?? [] });
  });

  router.get('/cache', async ({ query }, res) => {
    res.json(await gateway().inventory({ text: queryText(query, 'tag'), limit: queryNumber(query, 'limit', TAGS) }));
  });
  router.post('/cache/purge', ...writes, async ({ body }, res) => {
    const { all, tag } = membersOf(body);
    const tags = all === true ? 'all' : typeof tag === 'string' && tag !== '' ? [tag] : undefined;
    if (tags === undefined) {
      res.status(400).json({ error: 'Provide a tag, or set all to true.' });
      return;
    }
    noteAction(res, { subject: { tags } });
    const purged = await gateway().purge(tags);
    noteAction(res, { after: { purged } });
    res.json({ purged });
  });

  router.use((_req, res) => void res.status(404).json({ error: 'There is no console data at this path.' }));
  return router;
}

const withoutEntry: RequestHandler = (_req, res, next) => {
  noteAction(res, { isReported: true });
  next();
};

/** The result of reading the form: a request to explain, or the name of an invalid form field. */
type ExplainForm =
  | { readonly ok: true; readonly request: ExplainRequest }
  | { readonly ok: false; readonly field: 'method' | 'target'; readonly message: string };

const MAX_TARGET = 4096;

/** Reads a request to explain. Without an account, the caller is anonymous. */
function explainRequest(
  form: Readonly<Record<string, unknown>>,
  { basePath, examples }: Settings['profile'],
): ExplainForm {
  const method = queryText(form, 'method').toUpperCase() || 'GET';
  const written = queryText(form, 'target', MAX_TARGET + 1).trim();
  // A complete URL is also accepted, but only its path and query are used.
  const target = written.replace(/^https?:\/\/[^/?#]+/i, '');
  const as = queryText(form, 'as').trim();
  const body = queryText(form, 'body', MAX_BODY_BYTES);
  if (!METHODS.includes(method)) return { ok: false, field: 'method', message: 'Enter a valid HTTP method.' };
  if (!target.startsWith('/') || target.length > MAX_TARGET || /[\s\p{Cc}]/u.test(target))
    return {
      ok: false,
      field: 'target',
      message: `The target must begin with a slash and must not contain spaces: ${basePath}${examples.accepted}`,
    };
  const sent = body !== '' && { body, headers: { 'Content-Type': 'application/json' } };
  return { ok: true, request: { method, target, ...(as !== '' && { as }), ...sent } };
}

/** The data for the page header, which is the same on every page. */
interface StatusView {
  /** The current time, in epoch milliseconds. */
  readonly now: number;
  readonly startedAt: number;
  readonly version: string;
  readonly contractVersion: string;
  readonly release: string;
  readonly mode: string;
  readonly ready: boolean;
  readonly reasons: readonly string[];
  readonly upstream: Pick<UpstreamHealth, 'status' | 'reasons'>;
  /** The connection to Redis. Undefined if Redis is not configured. */
  readonly shared: ReturnType<Sharing['status']>;
  /** The names of the globally enforced checks. */
  readonly enforced: readonly string[];
  /** The pages in the menu. */
  readonly pages: readonly ListedPage[];
  readonly operations: readonly string[];
  readonly writable: boolean;
  /** The reason why the console is read-only. Undefined if it allows changes. */
  readonly readOnlyReason: string | undefined;
}

const upstreamStatus = ({ status, reasons }: UpstreamHealth) => ({ status, reasons });

function statusView(sources: ConsoleSources): StatusView {
  const { settings, clock, contract } = sources;
  const gateway = sources.gateway();
  const { checks, mode, release } = settings;
  const writable = needsSignIn(settings);
  return {
    now: clock(),
    startedAt: gateway.startedAt,
    version: packageVersion(),
    contractVersion: contract.version,
    release,
    mode: mode.name,
    ...gateway.readiness(),
    upstream: upstreamStatus(gateway.upstreamHealth()),
    shared: sources.sharing.status(),
    enforced: CHECK_NAMES.filter((name) => checks[name] === 'enforce'),
    pages: listedPages(sources),
    operations: sources.operations.map(({ id }) => id),
    writable,
    readOnlyReason: writable ? undefined : READ_ONLY_REASON,
  };
}

interface ConfigurationRow {
  /** The full key, such as `listen.adminPort`. */
  readonly key: string;
  /** The value as JSON. Secrets are masked. */
  readonly value: string;
  readonly origin: Origin;
  /** Where the value is set: a line in the file, an environment variable or a flag. Undefined for a default. */
  readonly source: string | undefined;
  readonly secret: boolean;
}

const MASK = '••••••';

/** Returns all keys in the effective configuration, including defaults, sorted by name. */
export function configurationRows(settings: Settings): readonly ConfigurationRow[] {
  const { originOf, placeOf } = settings;
  const features = settings.features.map(({ configurable }) => configurable);
  const rows = settingLeaves(settings).map(({ path, value }) => {
    const pointer = pointerTo(path);
    const key = path.join('.');
    const secret = value !== undefined && isSecret(key, value, features);
    const origin = originOf(pointer);
    return {
      key,
      value: secret ? MASK : textOf(value),
      origin,
      source: origin === 'default' ? undefined : placeOf(pointer).source,
      secret,
    };
  });
  return rows.sort((a, b) => a.key.localeCompare(b.key, 'en'));
}

function textOf(value: unknown): string {
  if (value === undefined) return 'not set';
  return JSON.stringify(value, (_key, inner: unknown) => (typeof inner === 'string' ? withoutUserinfo(inner) : inner));
}

/** Masks the user name and the password in URLs. */
function withoutUserinfo(text: string): string {
  return text.replaceAll(/(?<=:\/\/)[^/?#\s]*@/g, `${MASK}@`);
}

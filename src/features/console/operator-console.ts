import { needsSignIn } from '../../engine/config/settings.ts';
import { existsSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import express, { type RequestHandler } from 'express';
import { type Document, isNode, LineCounter, parseDocument } from 'yaml';
import type { ReferenceSources } from './api-docs/create-api-docs-router.ts';
import type { ConsoleSources } from './console-sources.ts';
import { bundlePlace, contractFolder, resourceFile } from '../../engine/contract/contract-files.ts';
import { placeOfSchema } from '../../engine/contract/generate/generate-schemas.ts';
import type { OpenApiDocument } from '../../engine/contract/openapi-document.ts';
import { packageVersion } from '../../lib/package-root.ts';
import { createSignOut } from '../../engine/http/admin-guard.ts';
import { adminRequestFields } from '../../engine/http/admin-log.ts';
import type { AdminRoute } from '../../engine/http/admin-route.ts';
import { boundedMemo } from '../../lib/bounded-maps.ts';
import { escapePointer, keysOf, pointerTo, valueAt } from '../../lib/json-pointer.ts';
import type { AcceptedViolation, LedgerEntry } from '../../engine/model/ledger-entry.ts';
import type { Operation } from '../../engine/model/operation.ts';
import { permissionMatrix } from '../../engine/permissions/permission-matrix.ts';
import { explainLine } from '../../engine/pipeline/explain.ts';
import type { ContractPlace } from '../../workbench/report/report.ts';
import type { CompiledAssembly } from '../../engine/assembly/compile-gateway.ts';
import { explainRequest } from '../../engine/assembly/explain-request.ts';

/** The changes that the console's pages make, by the ends of their paths. */
const ACTIONS = {
  '/api/cache/purge': 'purge',
  '/api/configuration/reload': 'reload',
  '/api/overrides/end': 'override ended',
  '/api/overrides': 'override set',
  '/api/ladder/lift': 'lift',
  '/accept': 'accept',
  '/withdraw': 'withdraw',
  '/api/try': 'try',
};

/** The words in the paths of the console's data. */
const WORDS = ['contract', 'explain', 'fleet', 'permissions', 'status', 'traffic', 'upstream', 'violations', 'audit'];

/** Returns the routes of the console. */
export function consoleRoutes(...given: Parameters<typeof createLazyConsole>): AdminRoute[] {
  const { settings } = given[0];
  return [
    {
      path: '/',
      access: 'anyone',
      handler: express.Router().get('/', (_req, res) => res.redirect(303, 'console/')),
    },
    {
      path: '/console/sign-out',
      access: 'anyone',
      way: 'console',
      handler: createSignOut({ token: settings.adminToken, operators: settings.operators }),
    },
    {
      path: '/console',
      access: 'operator',
      way: 'console',
      actions: ACTIONS,
      words: WORDS,
      handler: createLazyConsole(...given),
    },
  ];
}

/** Creates the console's handler, which loads the console's modules and files on the first request. */
export function createLazyConsole(
  compiled: CompiledAssembly,
  given: Pick<ConsoleSources, 'clock' | 'startedAt' | 'purge' | 'readiness' | 'reload'> &
    Pick<ReferenceSources, 'publicAddress'>,
): RequestHandler {
  let handler: Promise<RequestHandler> | undefined;
  const load = async () => {
    const { createConsole } = await import('./create-console.ts');
    const { publicAddress, ...rest } = given;
    const reference = { ...referenceOf(compiled), publicAddress };
    return createConsole({ ...sourcesOf(compiled, rest), ...rest, reference });
  };
  return async (req, res, next) => {
    handler ??= load().catch((error: unknown) => {
      // If loading fails, the next request tries again.
      handler = undefined;
      throw error;
    });
    const handle = await handler;
    await handle(req, res, next);
  };
}

function referenceOf({ settings, start: { contract }, gateway: { plans } }: CompiledAssembly) {
  return {
    contractVersion: contract.version,
    document: contract.document,
    operations: contract.operations,
    rules: contract.rules,
    basePath: settings.profile.basePath,
    checksFor: (id) => plans.get(id)?.checks ?? settings.checks,
    publicBasePath: settings.publicBasePath,
    writable: needsSignIn(settings),
  } satisfies Partial<ReferenceSources>;
}

function sourcesOf(compiled: CompiledAssembly, { clock, purge }: Pick<ConsoleSources, 'clock' | 'purge'>) {
  const { settings, start, services } = compiled;
  const { contract, permissions, baseline } = start;
  const { traffic, records, ladder, ladderDocument, overrides, actions, upstreams, live, logger, shared } = services;
  /** Announces a baseline change to the other gateways, which then apply it. */
  const announce = async (fingerprint: string, accepted: AcceptedViolation | null) =>
    shared?.changes.append({ kind: 'baseline', fingerprint, accepted, at: clock() });
  return {
    version: packageVersion(),
    contractVersion: contract.version,
    settings,
    operations: contract.operations,
    traffic,
    ledger: records,
    baseline: baseline && {
      file: baseline.file,
      read: baseline.read,
      async accept(accepted) {
        await baseline.accept(accepted);
        await announce(accepted.fingerprint, accepted);
      },
      async withdraw(fingerprint) {
        const isWithdrawn = await baseline.withdraw(fingerprint);
        if (!isWithdrawn) return false;
        await announce(fingerprint, null);
        // Some pages may have been stored only because this violation was accepted, so all pages are purged.
        await purge('all');
        return true;
      },
    },
    placeOf: createContractPlaces(settings.contract.folder, contract.operations, process.cwd()),
    ladder: {
      rows: ladder.rows,
      lift: async (operation, check) => {
        const step = ladder.state().steps.find((one) => one.operation === operation && one.check === check);
        const isLifted = ladder.lift(operation, check);
        // As with a purge, the operator sees the result only once the change has taken effect everywhere.
        if (isLifted) await ladderDocument?.sync();
        return isLifted ? (step?.move ?? 'moved') : undefined;
      },
    },
    overrides,
    actions,
    matrix: () => permissionMatrix(permissions, contract.operations),
    explain: async (request) => {
      const headers = request.body === undefined ? undefined : { 'Content-Type': 'application/json' };
      return (await explainRequest(compiled, { ...request, headers })).map(explainLine);
    },
    inventory: (query) => live.cache.inventory(query),
    upstream: () => upstreams.stats(),
    upstreamHealth: () => upstreams.current.health(),
    upstreamHistory: () => upstreams.current.history(),
    shared: shared && (() => shared.status()),
    instances: shared?.instances.list,
    onError: (error, request) => logger.error({ ...adminRequestFields(request), err: error }, 'the console failed'),
  } satisfies Partial<ConsoleSources>;
}

interface ReadFile {
  readonly document: Document;
  readonly lines: LineCounter;
}

const OPENAPI = 'openapi.yaml';

/** Creates a function that returns a ledger entry's location in the contract, including the current line number. */
export function createContractPlaces(
  folder: string | undefined,
  operations: readonly Operation[],
  cwd: string,
): (entry: LedgerEntry) => ContractPlace {
  const root = folder ?? contractFolder();
  const shown = folder === undefined ? 'schemas' : relative(cwd, folder);
  const files = new Map<string, ReadFile | undefined>();
  const read = (file: string): ReadFile | undefined => {
    const path = join(root, file);
    const parse = file === OPENAPI ? parseContract : parseYaml;
    if (!files.has(file)) files.set(file, existsSync(path) ? parse(readFileSync(path, 'utf8')) : undefined);
    return files.get(file);
  };
  const lineOf = (file: string, pointer: string): number | undefined => {
    const found = read(file);
    const offset = found === undefined ? undefined : offsetAt(found.document, pointer);
    return offset === undefined ? undefined : found?.lines.linePos(offset).line;
  };
  let contract: unknown;
  const value = (): unknown => (contract ??= read(OPENAPI)?.document.toJS() as unknown);

  const inDocument = (pointer: string): ContractPlace => ({
    file: join(shown, OPENAPI),
    pointer,
    line: lineOf(OPENAPI, pointer),
    schema: undefined,
  });

  return (entry) => {
    const [path = '', pointer = ''] = entry.schemaPath.split('#');
    if (/^(?:resources|operations)\/[\w./-]+\.json$/.test(path) && !path.includes('..')) {
      const { file, name } = bundlePlace(path);
      const inFile = name === undefined ? pointer : `/$defs/${name}${pointer}`;
      const generated = read(file);
      const place = () => placeOfSchema(value() as OpenApiDocument, path);
      if (generated === undefined) return inDocument(place());
      const schema = schemaAt(path, pointer, value());
      // Extensions such as `x-expected` occur only in the OpenAPI document, so a location in that document is returned.
      if (path.startsWith('resources/') && !generated.document.hasIn(keysOf(inFile)))
        return { ...inDocument(`${place()}${pointer}`), schema };
      return {
        file: join(shown, file),
        pointer: inFile,
        line: lineOf(file, inFile),
        schema,
      };
    }
    return inDocument(operationPointer(entry, operations, value()));
  };
}

function operationPointer(
  { operation: id, direction, status }: LedgerEntry,
  operations: readonly Operation[],
  contract: unknown,
): string {
  const operation = operations.find((one) => one.id === id);
  if (operation === undefined) return '/paths';
  const at = `/paths/${escapePointer(operation.path)}/${operation.method.toLowerCase()}`;
  if (direction === 'request') return at;
  const response = `${at}/responses/${status ?? 'default'}`;
  return valueAt(contract, response) === undefined ? `${at}/responses` : response;
}

/** Returns the location in `openapi.yaml` from which a location in a generated schema file was derived. */
function schemaAt(file: string, pointer: string, contract: unknown): ContractPlace['schema'] {
  const schemas = valueAt(contract, '/components/schemas');
  if (typeof schemas !== 'object' || schemas === null) return undefined;
  const name = Object.keys(schemas).find((one) => [resourceFile(one), resourceFile(one, true)].includes(file));
  if (name === undefined) return undefined;
  const keys = ['components', 'schemas', name, ...keysOf(pointer).slice(0, -1)];
  const value = valueAt(contract, pointerTo(keys));
  if (typeof value !== 'object' || value === null || Array.isArray(value) || Object.hasOwn(value, '$ref'))
    return undefined;
  const path = keys.map((key) =>
    /^\d+$/.test(key) ? `[${key}]` : /^[A-Za-z_]\w*$/.test(key) ? `.${key}` : `[${JSON.stringify(key)}]`,
  );
  return { target: `$${path.join('')}`, value: value as Readonly<Record<string, unknown>> };
}

function parseYaml(text: string): ReadFile {
  const lines = new LineCounter();
  return { document: parseDocument(text, { lineCounter: lines }), lines };
}

/**
 * Parses the contract document and remembers the latest result. Parsing takes a quarter of a second, during which the
 * gateway serves no requests, and a reload rarely changes the document.
 */
const parseContract = boundedMemo(1, parseYaml);

/** Returns the offset of the value at a pointer or, if that value does not exist, of its closest existing ancestor. */
function offsetAt(document: Document, pointer: string): number | undefined {
  for (let keys = keysOf(pointer); ; keys = keys.slice(0, -1)) {
    const node = document.getIn(keys, true);
    if (isNode(node) && node.range) return node.range[0];
    if (keys.length === 0) return undefined;
  }
}

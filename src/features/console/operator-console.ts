import { needsSignIn } from '../../engine/config/settings.ts';
import express, { type RequestHandler } from 'express';
import type { ReferenceSources } from './api-docs/create-api-docs-router.ts';
import type { ConsoleSources } from './console-sources.ts';
import { packageVersion } from '../../lib/package-root.ts';
import { createSignOut } from '../../engine/http/admin-guard.ts';
import { adminRequestFields } from '../../engine/http/admin-log.ts';
import type { AdminRoute } from '../../engine/http/admin-route.ts';
import { createContractPlaces } from '../../engine/contract/contract-places.ts';
import type { AcceptedViolation } from '../../engine/model/ledger-entry.ts';
import { permissionMatrix } from '../../engine/permissions/permission-matrix.ts';
import { explainLine } from '../../engine/pipeline/explain.ts';
import type { CompiledAssembly } from '../../engine/assembly/compile-gateway.ts';
import { explainRequest } from '../../engine/assembly/explain-request.ts';

/** The changes that the console's pages make, by the ends of their paths. */
const ACTIONS = {
  '/api/cache/purge': 'purge',
  '/api/configuration/reload': 'reload',
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
  const { settings, start, services, gateway } = compiled;
  const { contract, permissions, baseline } = start;
  const { traffic, records, actions, upstreams, live, logger, shared } = services;
  const { sharing } = shared;
  /** Announces a baseline change to the other gateways, which then apply it. */
  const announce = async (fingerprint: string, accepted: AcceptedViolation | null) =>
    sharing.changes.append({ kind: 'baseline', fingerprint, accepted, at: clock() });
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
    changes: () => [...gateway.plans.values()].reduce((sum, { changes = [] }) => sum + changes.length, 0),
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
    shared: sharing.status,
    instances: sharing.instances.list,
    onError: (error, request) => logger.error({ ...adminRequestFields(request), err: error }, 'the console failed'),
  } satisfies Partial<ConsoleSources>;
}

import type { RequestHandler } from 'express';
import { packageVersion } from '../files/package-root.ts';
import type { Settings } from '../config/settings.ts';
import type { ConsoleSources } from '../console/console-sources.ts';
import type { ReferenceSources } from '../console/api-docs/create-api-docs-router.ts';
import { permissionMatrix } from '../permissions/permission-matrix.ts';
import { explain, explainLine } from '../pipeline/explain.ts';
import type { CompiledGateway } from '../pipeline/compiled-gateway.ts';
import type { Services } from './assemble-services.ts';
import { createContractPlaces } from './contract-places.ts';
import type { Start } from './load-start.ts';
import { disabledOperations } from './compile-gateway.ts';

/** Creates the console's handler. It loads the console's modules and files on the first request. */
export function createLazyConsole(
  settings: Settings,
  start: Start,
  services: Services,
  gateway: CompiledGateway,
  given: Pick<ConsoleSources, 'clock' | 'startedAt' | 'purge' | 'readiness' | 'reload'> &
    Pick<ReferenceSources, 'publicAddress'>,
): RequestHandler {
  let handler: Promise<RequestHandler> | undefined;
  const load = async () => {
    const { createConsole } = await import('../console/create-console.ts');
    const { publicAddress, ...rest } = given;
    const reference = { ...referenceOf(settings, start, gateway), publicAddress };
    return createConsole({ ...sourcesOf(settings, start, services, gateway), ...rest, reference });
  };
  return async (req, res, next) => {
    handler ??= load().catch((error: unknown) => {
      // If loading failed, the next request tries again.
      handler = undefined;
      throw error;
    });
    const handle = await handler;
    await handle(req, res, next);
  };
}

function referenceOf(settings: Settings, { contract }: Start, { plans }: CompiledGateway) {
  return {
    contractVersion: contract.version,
    document: contract.document,
    operations: contract.operations,
    checksFor: (id) => plans.get(id)?.checks ?? settings.checks,
    publicBasePath: settings.publicBasePath,
    writable: settings.adminToken !== undefined,
  } satisfies Partial<ReferenceSources>;
}

function sourcesOf(settings: Settings, start: Start, services: Services, gateway: CompiledGateway) {
  const { contract, permissions } = start;
  const { ownership, traffic, ledger, ladder, overrides, cache, upstream, upstreams, logger } = services;
  const rules = { permissions, ownership, disabledOperations: disabledOperations(settings, contract.operations) };
  return {
    version: packageVersion(),
    contractVersion: contract.version,
    settings,
    operations: contract.operations,
    traffic,
    ledger,
    baseline: start.baseline,
    placeOf: createContractPlaces(settings.contract.folder, contract.operations, process.cwd()),
    ladder,
    overrides,
    matrix: () => permissionMatrix(permissions, contract.operations),
    explain: (request) => explain(gateway, rules, settings.mode.name, request).map(explainLine),
    inventory: (query) => cache.inventory(query),
    upstream: () => upstreams.stats(),
    upstreamHealth: () => upstream.health(),
    upstreamHistory: () => upstream.history(),
    onError: (error) => logger.error({ err: error }, 'the console failed'),
  } satisfies Partial<ConsoleSources>;
}

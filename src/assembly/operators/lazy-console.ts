import type { RequestHandler } from 'express';
import { packageVersion } from '../../files/package-root.ts';
import type { ConsoleSources } from '../../console/console-sources.ts';
import type { ReferenceSources } from '../../console/api-docs/create-api-docs-router.ts';
import type { AcceptedViolation } from '../../model/ledger-entry.ts';
import { permissionMatrix } from '../../permissions/permission-matrix.ts';
import { explainLine } from '../../pipeline/explain.ts';
import { type CompiledAssembly, explainRequest } from '../compile-gateway.ts';
import { createContractPlaces } from './contract-places.ts';

/** Creates the console's handler, which loads the console's modules and files on the first request. */
export function createLazyConsole(
  compiled: CompiledAssembly,
  given: Pick<ConsoleSources, 'clock' | 'startedAt' | 'purge' | 'readiness' | 'reload'> &
    Pick<ReferenceSources, 'publicAddress'>,
): RequestHandler {
  let handler: Promise<RequestHandler> | undefined;
  const load = async () => {
    const { createConsole } = await import('../../console/create-console.ts');
    const { publicAddress, ...rest } = given;
    const reference = { ...referenceOf(compiled), publicAddress };
    return createConsole({ ...sourcesOf(compiled, rest), ...rest, reference });
  };
  return async (req, res, next) => {
    handler ??= load().catch((error: unknown) => {
      // If loading fails, the next request triggers another attempt.
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
    checksFor: (id) => plans.get(id)?.checks ?? settings.checks,
    publicBasePath: settings.publicBasePath,
    writable: settings.adminToken !== undefined,
  } satisfies Partial<ReferenceSources>;
}

function sourcesOf(compiled: CompiledAssembly, { clock, purge }: Pick<ConsoleSources, 'clock' | 'purge'>) {
  const { settings, start, services } = compiled;
  const { contract, permissions, baseline } = start;
  const { traffic, ledger, ladder, ladderDocument, overrides, view, logger, shared } = services;
  const changes = (shared ?? services.processes)?.changes;
  /** Announces a baseline change to the other gateways and processes, which then apply it. */
  const announce = async (fingerprint: string, accepted: AcceptedViolation | null) =>
    changes?.append({ kind: 'baseline', fingerprint, accepted, at: clock() });
  return {
    version: packageVersion(),
    contractVersion: contract.version,
    settings,
    operations: contract.operations,
    traffic,
    ledger,
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
        // Some pages may have been stored only because their violations were accepted.
        await purge('all');
        return true;
      },
    },
    placeOf: createContractPlaces(settings.contract.folder, contract.operations, process.cwd()),
    ladder: {
      rows: ladder.rows,
      lift: async (operation, check) => {
        const isLifted = ladder.lift(operation, check);
        // As with a purge, the operator sees the result only once the change is in effect everywhere.
        if (isLifted) await ladderDocument?.sync();
        return isLifted;
      },
    },
    overrides,
    matrix: () => permissionMatrix(permissions, contract.operations),
    explain: (request) => explainRequest(compiled, request).map(explainLine),
    inventory: (query) => view.inventory(query),
    upstream: () => view.upstream(),
    upstreamHealth: () => view.upstreamHealth(),
    upstreamHistory: () => view.upstreamHistory(),
    shared: shared && (() => shared.status()),
    instances: shared?.instances.list,
    onError: (error) => logger.error({ err: error }, 'the console failed'),
  } satisfies Partial<ConsoleSources>;
}

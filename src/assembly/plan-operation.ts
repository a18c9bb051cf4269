import { knownDefaultPageSize } from '../cache/cache-options.ts';
import { toOperationCacheOptions } from '../cache/operation-cache-options.ts';
import type { Settings } from '../config/settings.ts';
import type { Operation } from '../model/operation.ts';
import { toPagingOptions } from '../paging/paging-options.ts';
import type { PlannedOperation } from '../pipeline/planned-operation.ts';

/** Combines one operation with its configuration. */
export function planOperation(settings: Settings, operation: Operation): PlannedOperation {
  const own = settings.operations[operation.id] ?? {};
  const { cacheability } = operation;
  const cache =
    cacheability === undefined
      ? undefined
      : toOperationCacheOptions(
          settings.cache,
          { byDefault: cacheability.byDefault, on: settings.mode.cache },
          own.cache,
        );
  const { transparent } = settings.mode;
  return {
    operation,
    checks: settings.checksFor(operation.id),
    errors: settings.errorsFor(operation.id),
    transparent,
    serviceCredential: settings.upstream.credentials.kind === 'service' && operation.identityIndependent,
    maxPageSize: toPagingOptions(settings.pageBounds, own.pageBounds).maxPageSize,
    defaultPageSize: knownDefaultPageSize(settings.cache, operation.id),
    cache: cache?.enabled === true && !transparent ? cache : undefined,
  };
}

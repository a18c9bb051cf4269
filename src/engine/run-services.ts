import { isDeepStrictEqual } from 'node:util';
import type { Service } from './model/service.ts';

/** A service in a list, with a name that is unique there. */
export interface ListedService<Context> extends Service<unknown, Context> {
  readonly name: string;
}

/** A service at work, and what it was started with. */
interface Run {
  readonly startedWith: unknown;
  readonly value: unknown;
}

/** The services at work under one configuration. */
export interface Runs<Context> {
  /** The settings and everything else that services get. It contains the value of each service under its name. */
  readonly context: Context;
  readonly byService: ReadonlyMap<ListedService<Context>, Run>;
}

/** Called with the name of a service that could not be closed, or could not return to the earlier configuration. */
type OnError = (service: string, error: unknown) => void;

/**
 * Starts the services in their order. Each one finds those before it in `context`, under their names. A service goes on
 * if what it depends on is the same as in the `earlier` configuration. If one cannot be started, throws its error and
 * closes the others.
 */
export function startServices<Context extends object>(
  services: readonly ListedService<Context>[],
  context: Context,
  onError: OnError,
  earlier?: Runs<Context>,
): Runs<Context> {
  const byService = new Map<ListedService<Context>, Run>();
  const runs = { context, byService };
  try {
    for (const service of services) {
      const before = earlier?.byService.get(service);
      const startedWith = service.dependsOn?.(context);
      const goesOn = before !== undefined && isDeepStrictEqual(before.startedWith, startedWith);
      const run = goesOn ? before : { startedWith, value: service.start(context, before?.value) };
      byService.set(service, run);
      Object.assign(context, { [service.name]: run.value });
    }
  } catch (error) {
    void closeServices(runs, 0, onError, earlier);
    throw error;
  }
  return runs;
}

/** Opens the services that the `earlier` configuration does not use. Throws the error of the first that cannot be opened. */
export async function openServices<Context>({ byService }: Runs<Context>, earlier?: Runs<Context>): Promise<void> {
  for (const [service, run] of byService) if (earlier?.byService.get(service) !== run) await service.open?.(run.value);
}

/**
 * Tells the services that new requests begin to use this configuration. Throws the error of the first that cannot use
 * it. With `onError`, which is for undoing a refused reload, reports each error and tells the other services too.
 */
export function useServices<Context>({ byService, context }: Runs<Context>, onError?: OnError): void {
  for (const [service, { value }] of byService)
    try {
      service.use?.(value, context);
    } catch (error) {
      if (onError === undefined) throw error;
      onError(service.name, error);
    }
}

/**
 * Closes the services that `next` does not use, in reverse order; without `next`, all of them. A service that cannot be
 * closed does not keep the others open: `onError` gets its error.
 */
export async function closeServices<Context>(
  { byService, context }: Runs<Context>,
  graceMs: number,
  onError: OnError,
  next?: Runs<Context>,
): Promise<void> {
  for (const [service, run] of [...byService].toReversed()) {
    if (next?.byService.get(service) === run) continue;
    try {
      await service.close?.(run.value, graceMs, context);
    } catch (error) {
      onError(service.name, error);
    }
  }
}

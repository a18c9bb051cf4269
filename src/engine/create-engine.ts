import { versionOfKey } from './cache/stored-page.ts';
import { compileGateway, requestRepeater } from './compile-gateway.ts';
import type { Settings } from './config/settings.ts';
import type { Feature } from './feature.ts';
import type { Start } from './load-start.ts';
import { publicOriginOf } from './model/arrival.ts';
import { createAsk } from './pipeline/ask-upstream.ts';
import { toCauseLine } from './privacy/cause-line.ts';
import { secondSources, withSecondSide } from './second-upstream.ts';
import { featureServices, joinFeatures } from './run-features.ts';
import { closeServices, openServices, type Runs, startServices, useServices } from './run-services.ts';
import { type GivenParts, type InUse, type ServiceContext, SERVICES } from './services.ts';
import { openTraceRecorder } from './trace-recorder.ts';

/** The services and features at work, and the configuration that new requests use. */
export interface Engine {
  /** Returns the configuration that new requests use. Throws if there is none yet. */
  current(): InUse;
  /**
   * Starts what a configuration needs and the one in use does not have. Nothing changes for requests until the
   * configuration is used. If something cannot be started, closes the rest and throws its error.
   */
  prepare(settings: Settings, start: Start): Prepared;
  /** Opens what takes time, of the first configuration. Rejects with the error of the first service that cannot be opened. */
  open(): Promise<void>;
  /** Closes everything, in reverse order. Features may take `graceMs` milliseconds to finish their work. */
  close(graceMs: number): Promise<void>;
}

/**
 * A configuration that has been started. It must be either used or discarded. The first one is used before it is opened,
 * because features need the gateway when they open.
 */
export interface Prepared {
  /** Opens what takes time. Rejects with the error of the first service that cannot be opened. */
  open(): Promise<void>;
  /**
   * Makes new requests use the configuration, and closes what only the previous one used. Returns what `follow` returns,
   * which must change nothing if it throws. Does not yield to the event loop. If this throws, the previous configuration
   * stays in use.
   */
  use<Followed>(follow: (next: InUse) => Followed): Followed;
  /** Closes what was started. */
  discard(): Promise<void>;
}

/** Creates an engine without a configuration. */
export function createEngine(given: GivenParts, features: readonly Feature[]): Engine {
  const ofFeatures = featureServices(features);
  const services = [...SERVICES, ...ofFeatures];
  let inUse: { readonly runs: Runs<ServiceContext>; readonly gateway: InUse } | undefined;
  const current = () => inUse?.gateway;
  const log = (message: string) => (service: string, error: unknown) =>
    inUse?.gateway.logger.error({ service, cause: toCauseLine(error) }, message);
  const onError = log('a part of the gateway could not be closed');
  const onUndoError = log('a part of the gateway could not return to the configuration before a refused reload');
  return {
    current() {
      if (inUse === undefined) throw new Error('no configuration is in use yet');
      return inUse.gateway;
    },
    prepare(settings, start) {
      // Each service adds its value to the context.
      const context = { ...given, settings, start, current } as ServiceContext;
      const runs = startServices(services, context, onError, inUse?.runs);
      return {
        open: () => openServices(runs, inUse?.runs),
        use(follow) {
          const before = inUse;
          let followed;
          try {
            useServices(runs);
            inUse = { runs, gateway: compile(context, joinFeatures(ofFeatures, runs)) };
            forgetOtherVersions(inUse.gateway);
            followed = follow(inUse.gateway);
          } catch (error) {
            inUse = before;
            // Errors while going back must not replace the one that refused the reload.
            if (before !== undefined) useServices(before.runs, onUndoError);
            throw error;
          }
          if (before !== undefined) void closeServices(before.runs, Infinity, onError, runs);
          return followed;
        },
        discard: () => closeServices(runs, 0, onError, inUse?.runs),
      };
    },
    open: async () => inUse && openServices(inUse.runs),
    close: async (graceMs) => inUse && closeServices(inUse.runs, graceMs, onError),
  };
}

/** Compiles the plans of a configuration whose services and features have been started. */
function compile(context: ServiceContext, features: InUse['features']): InUse {
  const recordTrace = openTraceRecorder(context, features);
  const sources = { ...context, features, recordTrace };
  const first = compileGateway(sources, features.stages);
  const second = features.second && secondSources(sources, features.second);
  context.revocations.applyToSecond(second?.ownAuthenticator);
  const gateway =
    features.second === undefined || second === undefined
      ? first
      : withSecondSide(first, compileGateway(second.sources, features.stages), features.second, context.settings);
  const { upstream, sessions, settings } = context;
  const ask = createAsk(upstream, sessions, publicOriginOf(settings.publicOrigin));
  return { ...sources, gateway, second: second?.sources, ask, repeater: requestRepeater(context) };
}

/**
 * Removes the pages that can no longer be requested, because their operations have other page versions now. Otherwise,
 * they would stay in memory until evicted.
 */
function forgetOtherVersions({ gateway, cache }: InUse): void {
  const versions = new Set<string>();
  for (const one of [gateway, gateway.second?.gateway])
    for (const { pageVersion } of one?.plans.values() ?? []) versions.add(pageVersion);
  cache.retain((key) => versions.has(versionOfKey(key)));
}

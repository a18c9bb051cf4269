import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import type { DestinationStream } from 'pino';
import type { Clock } from '../lib/clock.ts';
import { cache, changeFollower, demotions, guard, pageStore, sharedPages } from './cache/services.ts';
import type { PlanSources } from './compile-gateway.ts';
import type { Settings } from './config/settings.ts';
import { metrics } from './gateway-metrics.ts';
import {
  authenticator,
  credentialHash,
  loginLimits,
  revocations,
  upstreamPasswords,
  verifierTests,
} from './identity/services.ts';
import { presence } from './instance-facts.ts';
import type { Start } from './load-start.ts';
import { acceptance } from './model/acceptance.ts';
import type { Service } from './model/service.ts';
import { createKindOf, type KindOf } from './model/violation-kind.ts';
import type { AskUpstream } from './pipeline/ask-upstream.ts';
import type { CompiledGateway } from './pipeline/compiled-gateway.ts';
import type { RequestRepeater } from './pipeline/repeat-request.ts';
import { failingPages, lookUp, ownership, pageCounts, purge } from './pipeline/services.ts';
import { createNameTag } from './privacy/describe-value.ts';
import { records } from './records.ts';
import type { RunningFeatures } from './run-features.ts';
import type { ListedService } from './run-services.ts';
import { running } from './open-running-gateway.ts';
import type { GatewayControls } from './running-gateway.ts';
import { acceptanceFollower } from './shared-acceptance.ts';
import { sharing } from './sharing/services.ts';
import { logger, logOutput, redisMetrics } from './telemetry/services.ts';
import { credentialProbe, sessions, startupProbe, upstream, upstreams } from './upstream/services.ts';
import type { Trace } from './model/trace.ts';

/** The system facilities that tests and embedding applications can replace, and what the program controls. */
export interface GivenParts {
  readonly clock: Clock;
  /** Where the lines of both logs go. Default: standard output. */
  readonly logStream: DestinationStream | undefined;
  /**
   * Returns a random number x (0 ≤ x < 1) that determines whether a hit on a shared page triggers a comparison with the
   * caller's own response.
   */
  readonly random: () => number;
  readonly controls: GatewayControls;
}

/** The services of the engine, in the order in which they start. Each one uses only those before it when it starts. */
const list = {
  logOutput,
  logger,
  /** Returns a violation's fingerprint and the properties from which it is computed. */
  kindOf: { start: (): KindOf => createKindOf() },
  /** Returns the keyed hash that replaces the principal's name in the log. */
  nameTag: { start: (): ReturnType<typeof createNameTag> => createNameTag() },
  /** The name of this gateway, which distinguishes it from its replicas. */
  instance: {
    start: ({ settings }: { readonly settings: Settings }): string =>
      settings.instance ?? `${hostname()}-${randomBytes(2).toString('hex')}`,
  },
  acceptance,
  redisMetrics,
  sharing,
  changeFollower,
  pageStore,
  sharedPages,
  revocations,
  demotions,
  upstream,
  upstreams,
  sessions,
  lookUp,
  cache,
  pageCounts,
  guard,
  failingPages,
  ownership,
  purge,
  acceptanceFollower,
  metrics,
  records,
  credentialHash,
  loginLimits,
  credentialProbe,
  authenticator,
  verifierTests,
  upstreamPasswords,
  startupProbe,
  running,
  presence,
};

/** The values of the services, by name. */
type Values = { readonly [Name in keyof typeof list]: ValueOf<(typeof list)[Name]> };
type ValueOf<One> = One extends { start(needs: never, earlier: never): infer Value } ? Value : never;

/** What services get: the settings, what was read at startup, the given parts, and the services before them. */
export interface ServiceContext extends GivenParts, Values {
  readonly settings: Settings;
  readonly start: Start;
  /** Returns the configuration that new requests use. Undefined until the first one is used. */
  current(): InUse | undefined;
}

/** A configuration that new requests use, with all services and the gateway that was compiled from them. */
export interface InUse extends ServiceContext {
  readonly features: RunningFeatures;
  readonly gateway: CompiledGateway;
  /** What the gateway in front of the second upstream was compiled from. Undefined if there is only one upstream. */
  readonly second: PlanSources | undefined;
  /** Passes a finished request's trace to everything that records it. */
  readonly recordTrace: (trace: Trace) => void;
  readonly repeater: RequestRepeater;
  readonly ask: AskUpstream;
}

const checked: { readonly [Name in keyof Values]: Service<Values[Name], ServiceContext> } = list;

/** The services of the engine, in the order in which they start. */
export const SERVICES: readonly ListedService<ServiceContext>[] = Object.entries<Service<unknown, ServiceContext>>(
  checked,
).map(([name, service]) => Object.assign({ name }, service));

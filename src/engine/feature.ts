import type { Logger } from 'pino';
import type { Static, TSchema } from 'typebox';
import type { Configurable, Settings } from './config/settings.ts';
import type { Clock } from '../lib/clock.ts';
import type { Contract } from './contract/load-contract.ts';
import type { Operation } from './model/operation.ts';
import type { Trace } from './model/trace.ts';
import type { Violation } from './model/violation.ts';
import type { Exchange } from './pipeline/exchange.ts';
import type { MessageObserver } from './pipeline/message-observer.ts';
import type { Plan } from './pipeline/plan.ts';
import type { PublicMiddleware } from './http/public-app.ts';
import type { RequestRepeater } from './pipeline/repeat-request.ts';
import type { FeatureStage } from './pipeline/stage.ts';
import type { Redis } from './redis/connect-redis.ts';
import type { FeatureMetrics } from './telemetry/feature-metrics.ts';
import type { MetricEntry } from './telemetry/metric-list.ts';
import type { Sampling } from './telemetry/trace-context.ts';
import type { UpstreamAddress } from './upstream/upstream-url.ts';

/**
 * A part of Portico that can be taken out: one folder in `features/`, one exported value, and one line in
 * `features.ts`. The engine knows features only through this interface.
 */
export interface Feature<Options extends TSchema = TSchema, Prepared = unknown> extends Configurable<
  Options,
  Prepared
> {
  /** The metrics of the feature. While it is off, those without labels are 0 and the others do not exist. */
  readonly metrics?: readonly MetricEntry[];
  /** The names of the members that the feature adds to lines of the access log. */
  readonly logFields?: readonly string[];
  /**
   * Returns which traces are sampled, or undefined if the options leave this open. If traces are sampled, each attempt to
   * send a request to the upstream has a span of its own in the trace, and the metrics have exemplars. At most one
   * feature samples traces.
   */
  sampling?(options: Static<Options>): Sampling | undefined;
  /** Returns what else a run of the feature depends on. A reload that changes it starts the feature again. */
  dependsOn?(settings: Settings): unknown;
  /**
   * Starts the feature. Called when the gateway starts and after each reload that changes the feature's options, the
   * contract, or what `prepare` or `dependsOn` returns; the earlier run is closed once no new request uses it. Not called if the
   * feature is off. Returns undefined if the options leave the feature without work.
   */
  start?(context: FeatureContext<Static<Options>, Prepared>): RunningFeature | undefined;
}

/** What the engine gives to a feature that starts. */
export interface FeatureContext<Options, Prepared = unknown> {
  /**
   * Returns state of the feature that survives reloads. It is created on the first call, and closed when the gateway
   * closes, within `graceMs` milliseconds. A feature has at most one such state.
   */
  lasting<State>(create: () => State, close?: (state: State, graceMs: number) => Promise<void>): State;
  readonly options: Options;
  readonly settings: Settings;
  readonly contract: Contract;
  readonly operations: readonly Operation[];
  /** What `prepare` has read. */
  readonly prepared: Prepared;
  /** The address of the upstream. */
  readonly address: UpstreamAddress;
  /** The name of this gateway, which distinguishes it from its replicas. */
  readonly instance: string;
  readonly clock: Clock;
  readonly logger: Logger;
  /** The Redis server through which gateways share state. Undefined if none is configured. */
  readonly redis: Redis | undefined;
  readonly metrics: FeatureMetrics;
  /** Returns a random number x (0 ≤ x < 1). */
  readonly random: () => number;
  /** Repeats clients' requests with the settings in use, also after a reload that does not restart the feature. */
  readonly repeater: RequestRepeater;
  /**
   * Records violations that the feature found in a finished request or its response: in the ledger, for the request's
   * caller, and in the metrics. They have no effect on the request. Either their category is an advisory one, or they
   * state with `candidate` how another contract would decide.
   */
  readonly record: (request: Trace, violations: readonly Violation[]) => void;
}

/** A feature at work. Every member is optional; the engine calls only those that exist. */
export interface RunningFeature {
  /**
   * Loads and opens what `start` cannot, because it must return at once. Awaited before the first request uses the
   * feature. An error prevents the start of the gateway, or the reload.
   */
  open?(): Promise<void>;
  readonly stages?: readonly FeatureStage[];
  /**
   * Stages that decide as `stages` do, but have no effect: they count and store nothing. `portico explain` runs them.
   * If undefined, `stages` have no effects.
   */
  readonly passiveStages?: readonly FeatureStage[];
  /** Returns what `portico explain` says about a request besides the verdict, each with the name of its subject. */
  describe?(plan: Plan, exchange: Exchange): readonly (readonly [name: string, text: string])[];
  /** Express middleware on the public side, before the gateway. It may respond to a request or change the response. */
  readonly middleware?: readonly PublicMiddleware[];
  /** Sees the messages of requests as the stages do. */
  readonly messages?: MessageObserver;
  /** Adds headers to a reply. `headers` alternates names and values. */
  addHeaders?(trace: Trace, headers: string[]): void;
  /** Returns members for a request's line in the access log. They must not contain data from messages. */
  logMembers?(trace: Trace): Readonly<Record<string, string | number | boolean>> | undefined;
  /**
   * Called with the trace of each finished request, once the client has its response. Called for background work, too.
   * Must return at once.
   */
  finished?(trace: Trace): void;
  close?(): Promise<void> | void;
}

import { isDeepStrictEqual } from 'node:util';
import type { Logger } from 'pino';
import { optionsOf } from './config/configurable.ts';
import type { OperatorAction } from './model/operator-action.ts';
import type { Trace } from './model/trace.ts';
import { toCauseLine } from './privacy/cause-line.ts';
import type { PreparedFeature, Settings } from './config/settings.ts';
import type { AdminRoute } from './http/admin-route.ts';
import type { OperatorPage } from './http/operator-page.ts';
import type { PublicMiddleware } from './http/public-app.ts';
import type { TraceObserver } from './http/public-handler.ts';
import { joinObservers, type MessageObserver } from './pipeline/message-observer.ts';
import type { FeatureStage } from './pipeline/stage.ts';
import type { OpenPageStore } from './cache/page-store.ts';
import type { Sampling } from './telemetry/trace-context.ts';
import type { Feature, FeatureContext, LevelSource, Records, RunningFeature } from './feature.ts';

/** The features at work under one configuration. */
export interface RunningFeatures {
  readonly stages: readonly FeatureStage[];
  /** The stages without effects that `portico explain` runs. */
  readonly passive: readonly FeatureStage[];
  /** Returns what the features say about a request in `portico explain`. */
  describe: NonNullable<RunningFeature['describe']>;
  readonly middleware: readonly PublicMiddleware[];
  /** The observers of messages, joined to one. */
  readonly messages: MessageObserver;
  /** Adds the features' headers to a reply. `headers` alternates names and values. */
  addHeaders(trace: Trace, headers: string[]): void;
  /** Returns the features' members for a request's line in the access log, as JSON text that starts with a comma. */
  logMembers(trace: Trace): string;
  /** The features that observe finished requests. */
  readonly observers: readonly TraceObserver[];
  /** The records of the feature that keeps them. Undefined if none does. */
  readonly records: Records | undefined;
  /** The levels that differ from the configuration. Undefined if no feature has any. */
  readonly levels: LevelSource | undefined;
  /** Makes new requests use these runs. */
  use(): void;
  /** Returns the features' parts of the admin side. */
  adminRoutes(): readonly AdminRoute[];
  /** The features' pages for operators, in the order of the menu. */
  readonly pages: readonly OperatorPage[];
  /** Passes an operator's action to the features. Resolves to false if a feature could not store it. */
  acted(action: OperatorAction): Promise<boolean>;
  /** Returns the latest actions of operators, oldest first. */
  actions: NonNullable<RunningFeature['actions']>;
  /** Passes violations found after a request to the features. */
  found(trace: Trace): void;
  /** Passes the fields of a sampled response to the features. */
  sampled: NonNullable<RunningFeature['sampled']>;
  /** Opens the runs that `before` does not have. Throws the error of the first that cannot be opened. */
  open(before?: RunningFeatures): Promise<void>;
  /** Closes the runs that `next` does not use. */
  close(next: RunningFeatures): Promise<void>;
  /** Closes all runs, in reverse order, and the features' lasting state, within `graceMs` milliseconds. */
  end(graceMs: number): Promise<void>;
  /** The run of each feature. */
  readonly runs: readonly FeatureRun[];
}

/** One run of a feature, and what it was started with. */
interface FeatureRun {
  readonly lasting: LastingState;
  readonly feature: Feature;
  readonly startedWith: unknown;
  readonly running: RunningFeature | undefined;
}

/** The state of a feature that survives reloads. All runs of the feature share this object. */
interface LastingState {
  /** The state, in an array. Empty if the feature has none. */
  readonly stored: unknown[];
  close?: (graceMs: number) => Promise<void>;
}

interface StartParts extends Omit<FeatureContext<unknown>, 'lasting' | 'options' | 'operations' | 'prepared'> {
  /** What features have read, by the feature's name. */
  readonly prepared: ReadonlyMap<string, PreparedFeature>;
}

/**
 * Starts the features in their order. A feature whose options and contract are those of the earlier run goes on
 * unchanged.
 */
export function runFeatures(
  features: readonly Feature[],
  { settings, contract, prepared, ...services }: StartParts,
  earlier?: RunningFeatures,
): RunningFeatures {
  // The functions of the result are created elsewhere. Functions created here would share this call's variables, so they
  // would keep `earlier` and `settings`, and with them every earlier configuration, in memory.
  const runs = features.map((feature): FeatureRun => {
    const options = optionsOf(settings, feature);
    const read = prepared.get(feature.name);
    const startedWith = [options, contract.version, read?.version, feature.dependsOn?.(settings)];
    const before = earlier?.runs.find((run) => run.feature === feature);
    if (before !== undefined && isDeepStrictEqual(before.startedWith, startedWith)) return before;
    const { operations } = contract;
    const lasting = before?.lasting ?? { stored: [] };
    if (options === undefined) {
      for (const entry of feature.metrics ?? [])
        if (entry.labels.length === 0) services.metrics.read(entry, () => [[[], 0]]);
      return { feature, startedWith, lasting, running: undefined };
    }
    const context = {
      ...services,
      options,
      settings,
      contract,
      operations,
      prepared: read?.value,
      lasting: lastingState(lasting),
    };
    return { feature, startedWith, lasting, running: feature.start?.(context) };
  });
  return joinRuns(runs, services.logger);
}

/** Returns the function that creates the state of a feature, or finds it in `lasting`. */
function lastingState(lasting: LastingState): FeatureContext<unknown>['lasting'] {
  const { stored } = lasting;
  return <State>(create: () => State, close?: (state: State, graceMs: number) => Promise<void>): State => {
    if (stored.length === 0) {
      const state = create();
      stored.push(state);
      if (close !== undefined) lasting.close = (graceMs) => close(state, graceMs);
    }
    return stored[0] as State;
  };
}

/** Returns which traces the features sample, or undefined if none of them samples traces. */
export function samplingOf(features: readonly Feature[], settings: Settings): Sampling | undefined {
  for (const feature of features) {
    const options = optionsOf(settings, feature);
    const sampling = options === undefined ? undefined : feature.sampling?.(options);
    if (sampling !== undefined) return sampling;
  }
  return undefined;
}

/** Returns the function that opens the store of pages of a feature, or undefined if no feature has one. */
export function pageStoreOf(features: readonly Feature[], settings: Settings): OpenPageStore | undefined {
  for (const feature of features) {
    const options = optionsOf(settings, feature);
    const open = feature.openPageStore?.bind(feature);
    if (options !== undefined && open !== undefined) return (parts) => open(options, parts);
  }
  return undefined;
}

function joinRuns(runs: readonly FeatureRun[], logger: Logger): RunningFeatures {
  const running = runs.flatMap((run) => run.running ?? []);
  const withHeaders = running.filter((one) => one.addHeaders !== undefined);
  const withMembers = running.filter((one) => one.logMembers !== undefined);
  const closeOne = async (feature: Feature, close: () => Promise<void> | void | undefined) => {
    try {
      await close();
    } catch (error) {
      logger.error({ feature: feature.name, cause: toCauseLine(error) }, 'a feature could not be closed');
    }
  };
  return {
    runs,
    stages: running.flatMap(({ stages = [] }) => stages),
    passive: running.flatMap(({ stages = [], passiveStages = stages }) => passiveStages),
    middleware: running.flatMap(({ middleware = [] }) => middleware),
    messages: joinObservers(running.flatMap(({ messages }) => messages ?? [])),
    describe: (plan, exchange) => running.flatMap((one) => one.describe?.(plan, exchange) ?? []),
    addHeaders(trace, headers) {
      for (const one of withHeaders) one.addHeaders?.(trace, headers);
    },
    logMembers(trace) {
      let text = '';
      for (const one of withMembers)
        for (const [name, value] of Object.entries(one.logMembers?.(trace) ?? {}))
          text += `,${JSON.stringify(name)}:${JSON.stringify(value)}`;
      return text;
    },
    observers: runs.flatMap(({ feature: { name }, running: one }) => {
      const record = one?.finished?.bind(one);
      return record === undefined ? [] : [{ name, record }];
    }),
    records: running.find(({ records }) => records !== undefined)?.records,
    levels: running.find(({ levels }) => levels !== undefined)?.levels,
    use: () => running.forEach((one) => one.use?.()),
    adminRoutes: () => running.flatMap(({ adminRoutes = [] }) => adminRoutes),
    pages: running.flatMap(({ pages = [] }) => pages).toSorted((a, b) => a.position - b.position),
    async acted(action) {
      const stored = await Promise.all(running.flatMap((one) => one.acted?.(action) ?? []));
      return !stored.includes(false);
    },
    actions: async () => running.find((one) => one.actions !== undefined)?.actions?.() ?? [],
    found: (trace) => running.forEach((one) => one.found?.(trace)),
    sampled: (operation, presence) => running.forEach((one) => one.sampled?.(operation, presence)),
    async open(before) {
      for (const run of runs) if (before?.runs.includes(run) !== true) await run.running?.open?.();
    },
    async close(next) {
      for (const run of runs.toReversed())
        if (!next.runs.includes(run)) await closeOne(run.feature, () => run.running?.close?.());
    },
    async end(graceMs) {
      for (const { feature, running: one, lasting } of runs.toReversed()) {
        await closeOne(feature, () => one?.close?.());
        await closeOne(feature, () => lasting.close?.(graceMs));
      }
    },
  };
}

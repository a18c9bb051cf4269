import { isDeepStrictEqual } from 'node:util';
import type { Logger } from 'pino';
import { optionsOf } from './config/configurable.ts';
import type { Contract } from './contract/load-contract.ts';
import type { Trace } from './model/trace.ts';
import { toCauseLine } from './privacy/cause-line.ts';
import type { PublicMiddleware } from './http/public-app.ts';
import type { FeatureStage } from './pipeline/stage.ts';
import type { Feature, FeatureContext, RunningFeature } from './feature.ts';

/** The features at work under one configuration. */
export interface RunningFeatures {
  readonly stages: readonly FeatureStage[];
  /** The stages without effects that `portico explain` runs. */
  readonly passive: readonly FeatureStage[];
  /** Returns what the features say about a request in `portico explain`. */
  describe: NonNullable<RunningFeature['describe']>;
  readonly middleware: readonly PublicMiddleware[];
  /** Adds the features' headers to a reply. `headers` alternates names and values. */
  addHeaders(trace: Trace, headers: string[]): void;
  /** Returns the features' members for a request's line in the access log, as JSON text that starts with a comma. */
  logMembers(trace: Trace): string;
  /** Passes the trace of a finished request to the features. Undefined if none of them observes requests. */
  readonly finished: RunningFeature['finished'];
  /** Closes the features that `next` does not use. Without `next`, closes all of them, in reverse order. */
  close(next?: RunningFeatures): Promise<void>;
  /** The run of each feature. */
  readonly runs: readonly FeatureRun[];
}

/** One run of a feature, and what it was started with. */
interface FeatureRun {
  /** The state that survives reloads, in an array. Empty if the feature has none. */
  readonly lasting: unknown[];
  readonly feature: Feature;
  readonly startedWith: unknown;
  readonly running: RunningFeature | undefined;
}

interface StartParts extends Omit<FeatureContext<unknown>, 'lasting' | 'options' | 'operations'> {
  readonly contract: Pick<Contract, 'operations' | 'version'>;
}

/**
 * Starts the features in their order. A feature whose options and contract are those of the earlier run goes on
 * unchanged.
 */
export function runFeatures(
  features: readonly Feature[],
  { settings, contract, ...services }: StartParts,
  earlier?: RunningFeatures,
): RunningFeatures {
  // The functions of the result are created elsewhere. Functions created here would share this call's variables, so they
  // would keep `earlier` and `settings`, and with them every earlier configuration, in memory.
  const runs = features.map((feature): FeatureRun => {
    const options = optionsOf(settings, feature);
    const startedWith = [options, contract.version];
    const before = earlier?.runs.find((run) => run.feature === feature);
    if (before !== undefined && isDeepStrictEqual(before.startedWith, startedWith)) return before;
    const { operations } = contract;
    const lasting = before?.lasting ?? [];
    const context = { ...services, options, settings, operations, lasting: lastingState(lasting) };
    return { feature, startedWith, lasting, running: options === undefined ? undefined : feature.start?.(context) };
  });
  return joinRuns(runs, services.logger);
}

/** Returns the function that creates the state of a feature, or finds it in `stored`. */
function lastingState(stored: unknown[]) {
  return <State>(create: () => State): State => {
    if (stored.length === 0) stored.push(create());
    return stored[0] as State;
  };
}

function joinRuns(runs: readonly FeatureRun[], logger: Logger): RunningFeatures {
  const running = runs.flatMap((run) => run.running ?? []);
  const withHeaders = running.filter((one) => one.addHeaders !== undefined);
  const withMembers = running.filter((one) => one.logMembers !== undefined);
  const observers = running.filter((one) => one.finished !== undefined);
  return {
    runs,
    stages: running.flatMap(({ stages = [] }) => stages),
    passive: running.flatMap(({ stages = [], passiveStages = stages }) => passiveStages),
    middleware: running.flatMap(({ middleware = [] }) => middleware),
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
    finished: observers.length === 0 ? undefined : (trace) => observers.forEach((one) => one.finished?.(trace)),
    async close(next) {
      for (const run of runs.toReversed()) {
        if (next?.runs.includes(run) === true) continue;
        try {
          await run.running?.close?.();
        } catch (error) {
          logger.error({ feature: run.feature.name, cause: toCauseLine(error) }, 'a feature could not be closed');
        }
      }
    },
  };
}

import { optionsOf } from './config/configurable.ts';
import type { PreparedFeature } from './config/settings.ts';
import type { Contract } from './contract/load-contract.ts';
import type { Feature, FeatureContext, LevelSource, Records, RunningFeature } from './feature.ts';
import type { UpstreamPasswords } from './identity/upstream-passwords.ts';
import type { Verifier } from './identity/verifier.ts';
import type { AdminRoute } from './http/admin-route.ts';
import type { OperatorPage } from './http/operator-page.ts';
import type { PublicMiddleware } from './http/public-app.ts';
import type { TraceObserver } from './http/public-handler.ts';
import type { IsAccepted } from './model/acceptance.ts';
import type { HeaderPairs } from './model/header-pairs.ts';
import type { OperatorAction } from './model/operator-action.ts';
import type { FieldPresence } from './model/release-statistics.ts';
import { comparisonTrace, type Trace } from './model/trace.ts';
import type { Violation } from './model/violation.ts';
import type { AskUpstream } from './pipeline/ask-upstream.ts';
import type { CompiledGateway } from './pipeline/compiled-gateway.ts';
import { joinObservers, type MessageObserver } from './pipeline/message-observer.ts';
import type { RequestRepeater } from './pipeline/repeat-request.ts';
import type { SecondUpstream } from './pipeline/sides.ts';
import type { FeatureStage } from './pipeline/stage.ts';
import type { ListedService, Runs } from './run-services.ts';
import type { RunningGateway } from './running-gateway.ts';
import type { Metrics } from './telemetry/metrics.ts';

/** The features at work under one configuration. */
export interface RunningFeatures {
  /** The features' verifiers, in their order. */
  readonly verifiers: readonly Verifier[];
  /** The verifiers without effects that `portico explain` asks. */
  readonly passiveVerifiers: readonly Verifier[];
  readonly stages: readonly FeatureStage[];
  /** The stages without effects that `portico explain` runs. */
  readonly passive: readonly FeatureStage[];
  /** Returns what the features say about a request in `portico explain`. */
  describe: NonNullable<RunningFeature['describe']>;
  readonly middleware: readonly PublicMiddleware[];
  /** Returns the methods that a feature serves at a path of its own. */
  methodsAt: NonNullable<RunningFeature['methodsAt']>;
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
  /** The second upstream. Undefined if no feature has one. */
  readonly second: SecondUpstream | undefined;
  /** Returns the features' parts of the admin side. */
  adminRoutes(): readonly AdminRoute[];
  /** The features' pages for operators, in the order of the menu. */
  readonly pages: readonly OperatorPage[];
  /** Passes an operator's action to the features. Resolves to false if a feature could not store it. */
  acted(action: OperatorAction): Promise<boolean>;
  /** Returns the latest actions of operators, oldest first. */
  actions: NonNullable<RunningFeature['actions']>;
  /** Returns who would notice another server, by operation. */
  noticing: NonNullable<RunningFeature['noticing']>;
  /** Passes violations found after a request to the features. */
  found(trace: Trace): void;
  /** Passes the fields of a sampled response to the features. */
  sampled: NonNullable<RunningFeature['sampled']>;
}

/** What the services of features use. */
type FeatureNeeds = Pick<
  FeatureContext<unknown>,
  'settings' | 'instance' | 'clock' | 'logger' | 'kindOf' | 'sharing' | 'records' | 'random'
> & {
  readonly start: {
    readonly contract: Contract;
    readonly prepared: ReadonlyMap<string, PreparedFeature>;
    readonly address: FeatureContext<unknown>['address'];
  };
  readonly metrics: Metrics;
  readonly running: RunningGateway;
  current():
    | {
        readonly features: RunningFeatures;
        readonly gateway: Pick<CompiledGateway, 'plans' | 'recompile' | 'grantsOf' | 'mayUse'>;
        readonly repeater: RequestRepeater;
        readonly ask: AskUpstream;
        readonly upstreamPasswords: UpstreamPasswords;
        readonly acceptance: { readonly accepts: IsAccepted };
      }
    | undefined;
};

/** The service that runs a feature, or the one that keeps its lasting state. */
interface FeatureService extends ListedService<FeatureNeeds> {
  /** Undefined for the lasting state. */
  readonly feature?: Feature;
}

/**
 * Returns the services of a gateway that run the features, in the order of the features. Each of them is preceded by the
 * service of the state that survives its runs.
 */
export function featureServices(features: readonly Feature[]): readonly FeatureService[] {
  return features.flatMap((feature) => {
    const state = createLastingState();
    return [
      { name: `${feature.name} (state)`, start: () => undefined, close: (_, graceMs) => state.close(graceMs) },
      serviceOf(feature, state.lasting),
    ] satisfies FeatureService[];
  });
}

const runningOf = (value: unknown) => value as RunningFeature | undefined;

/** Returns the service that runs a feature. Its value is undefined while the feature is off. */
function serviceOf(feature: Feature, lasting: FeatureContext<unknown>['lasting']): FeatureService {
  const { name } = feature;
  return {
    name,
    feature,
    dependsOn: ({ settings, start: { contract, prepared } }) => [
      optionsOf(settings, feature),
      contract.version,
      prepared.get(name)?.version,
      feature.dependsOn?.(settings),
    ],
    start(needs) {
      const { settings, start, metrics } = needs;
      const { contract, address } = start;
      const options = optionsOf(settings, feature);
      if (options === undefined) {
        for (const entry of feature.metrics ?? [])
          if (entry.labels.length === 0) metrics.features.read(entry, () => [[[], 0]]);
        return undefined;
      }
      const prepared = start.prepared.get(name)?.value;
      const own = { settings, contract, operations: contract.operations, address, options, prepared, lasting };
      return feature.start?.({ ...contextOf(needs), ...own });
    },
    open: (value) => runningOf(value)?.open?.(),
    use: (value) => runningOf(value)?.use?.(),
    close: (value) => runningOf(value)?.close?.(),
  };
}

/** Returns what features get that does not depend on the configuration. */
function contextOf({
  current,
  metrics,
  running,
  clock,
  logger,
  kindOf,
  instance,
  sharing,
  records,
  random,
}: FeatureNeeds) {
  return {
    clock,
    logger,
    kindOf,
    instance,
    sharing,
    records,
    random,
    metrics: metrics.features,
    traffic: () => metrics.traffic,
    gateway: () => running,
    pages: () => current()?.features.pages ?? [],
    isAccepted: (...asked: Parameters<IsAccepted>) => current()?.acceptance.accepts(...asked) ?? false,
    planOf: (operation: string) => current()?.gateway.plans.get(operation),
    mayUse(account: string, operation: string) {
      const gateway = current()?.gateway;
      const access = { kind: 'verified', name: account, audience: '', authorization: undefined } as const;
      return gateway?.mayUse(operation, gateway.grantsOf(access)) ?? false;
    },
    ask: (...request: Parameters<AskUpstream>) => current()?.ask(...request),
    passwords: {
      accepts: async (...asked: Parameters<UpstreamPasswords['accepts']>) =>
        current()?.upstreamPasswords.accepts(...asked) ?? false,
    },
    levelsChanged: (operation: string) => current()?.gateway.recompile(operation),
    acted: async (action: OperatorAction) => current()?.features.acted(action) ?? true,
    actions: async () => current()?.features.actions() ?? [],
    noticing: () => current()?.features.noticing() ?? new Map<string, number>(),
    recordFields: (operation: string, presence: FieldPresence) => current()?.features.sampled(operation, presence),
    repeater: {
      repeat: (...request: Parameters<RequestRepeater['repeat']>) => current()?.repeater.repeat(...request),
      decode: async (headers: HeaderPairs, body: Buffer) => current()?.repeater.decode(headers, body),
    },
    record(request: Trace, violations: readonly Violation[]) {
      const trace = comparisonTrace(request, violations);
      metrics.record(trace);
      current()?.features.found(trace);
    },
  };
}

/** Creates the place for the state of a feature that survives reloads. */
function createLastingState() {
  const stored: unknown[] = [];
  let closeState: ((graceMs: number) => Promise<void>) | undefined;
  const lasting: FeatureContext<unknown>['lasting'] = (create, close) => {
    if (stored.length === 0) {
      const state = create();
      stored.push(state);
      if (close !== undefined) closeState = (graceMs) => close(state, graceMs);
    }
    return stored[0] as ReturnType<typeof create>;
  };
  return { lasting, close: (graceMs: number) => closeState?.(graceMs) };
}

/** Joins the features at work under one configuration. */
export function joinFeatures<Context extends FeatureNeeds>(
  services: readonly FeatureService[],
  { byService }: Pick<Runs<Context>, 'byService'>,
): RunningFeatures {
  const named = services.flatMap((service) => {
    const running = service.feature && (byService.get(service)?.value as RunningFeature | undefined);
    return running === undefined ? [] : [{ name: service.name, running }];
  });
  const running = named.map((one) => one.running);
  const withHeaders = running.filter((one) => one.addHeaders !== undefined);
  const withPaths = running.filter((one) => one.methodsAt !== undefined);
  const withMembers = running.filter((one) => one.logMembers !== undefined);
  return {
    verifiers: running.flatMap(({ verifiers = [] }) => verifiers),
    passiveVerifiers: running.flatMap(({ verifiers = [], passiveVerifiers = verifiers }) => passiveVerifiers),
    stages: running.flatMap(({ stages = [] }) => stages),
    passive: running.flatMap(({ stages = [], passiveStages = stages }) => passiveStages),
    middleware: running.flatMap(({ middleware = [] }) => middleware),
    methodsAt(path) {
      for (const one of withPaths) {
        const methods = one.methodsAt?.(path);
        if (methods !== undefined) return methods;
      }
      return undefined;
    },
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
    observers: named.flatMap(({ name, running: one }) => {
      const record = one.finished?.bind(one);
      return record === undefined ? [] : [{ name, record }];
    }),
    records: running.find(({ records }) => records !== undefined)?.records,
    levels: running.find(({ levels }) => levels !== undefined)?.levels,
    second: running.find(({ second }) => second !== undefined)?.second,
    adminRoutes: () => running.flatMap(({ adminRoutes = [] }) => adminRoutes),
    pages: running.flatMap(({ pages = [] }) => pages).toSorted((a, b) => a.position - b.position),
    // An async function would keep this object, and with it the configuration, in memory while a file is written.
    acted: (action) =>
      Promise.all(running.flatMap((one) => one.acted?.(action) ?? [])).then((stored) => !stored.includes(false)),
    actions: async () => running.find((one) => one.actions !== undefined)?.actions?.() ?? [],
    noticing: () => running.find((one) => one.noticing !== undefined)?.noticing?.() ?? new Map<string, number>(),
    found: (trace) => running.forEach((one) => one.found?.(trace)),
    sampled: (operation, presence) => running.forEach((one) => one.sampled?.(operation, presence)),
  };
}

import type { Logger } from 'pino';
import type { Static, TSchema } from 'typebox';
import type { Configurable, Settings } from './config/settings.ts';
import type { Clock } from '../lib/clock.ts';
import type { PageStore, PageStoreParts } from './cache/page-store.ts';
import type { Contract } from './contract/load-contract.ts';
import type { UpstreamPasswords } from './identity/upstream-passwords.ts';
import type { Verifier } from './identity/verifier.ts';
import type { AcceptedViolations, IsAccepted } from './model/acceptance.ts';
import type { FeatureCommand } from './feature-command.ts';
import type { InForce } from './model/in-force.ts';
import type { Baseline, LedgerReader, StoredRecords } from './model/ledger-entry.ts';
import type { Operation } from './model/operation.ts';
import type { ReportSection } from './model/report-section.ts';
import type { FieldPresence } from './model/release-statistics.ts';
import type { Trace } from './model/trace.ts';
import type { OperatorAction } from './model/operator-action.ts';
import type { Violation } from './model/violation.ts';
import type { KindOf } from './model/violation-kind.ts';
import type { AskUpstream } from './pipeline/ask-upstream.ts';
import type { Exchange } from './pipeline/exchange.ts';
import type { MessageObserver } from './pipeline/message-observer.ts';
import type { Plan } from './pipeline/plan.ts';
import type { AdminRoute } from './http/admin-route.ts';
import type { OperatorPage } from './http/operator-page.ts';
import type { PublicMiddleware } from './http/public-app.ts';
import type { RequestRepeater } from './pipeline/repeat-request.ts';
import type { SecondUpstream } from './pipeline/sides.ts';
import type { FeatureStage, PlannedOperation } from './pipeline/stage.ts';
import type { Sharing } from './sharing/sharing.ts';
import type { RunningGateway } from './running-gateway.ts';
import type { FeatureMetrics } from './telemetry/metric-registry.ts';
import type { MetricEntry } from './telemetry/metric-list.ts';
import type { Sampling } from './telemetry/trace-context.ts';
import type { TrafficCounts } from './telemetry/traffic-counts.ts';
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
  /**
   * Opens a store of pages of the feature's own, which replaces that of the gateways that share with each other. Called
   * once, when the gateway starts, so its options need a restart. Only gateways with Redis use it, because the log of
   * changes decides which of its pages are valid. At most one feature has a store.
   */
  openPageStore?(options: Static<Options>, parts: PageStoreParts): PageStore;
  /** Returns what `portico report` says about the feature, from what the gateways have stored. */
  reportSections?(options: Static<Options>, about: ReportedState): Promise<readonly ReportSection[]>;
  /** Commands of the program that belong to the feature. */
  readonly commands?: readonly FeatureCommand[];
  /** Keeps the records of violations and traffic. At most one feature does. */
  readonly records?: RecordKeeping<Static<Options>>;
  /** Reads the violations that operators have accepted. At most one feature does. */
  readonly acceptance?: AcceptanceReader<Static<Options>>;
  /** Returns what else a run of the feature depends on. A reload that changes it starts the feature again. */
  dependsOn?(settings: Settings): unknown;
  /**
   * Starts the feature. Called when the gateway starts and after each reload that changes the feature's options, the
   * contract, or what `prepare` or `dependsOn` returns; the earlier run is closed once no new request uses it. Not called
   * if the feature is off. Returns undefined if the options leave the feature without work.
   */
  start?(context: FeatureContext<Static<Options>, Prepared>): RunningFeature | undefined;
}

/** What a section of a report is made of, besides the feature's own state. */
export interface ReportedState {
  readonly settings: Settings;
  readonly accepted: Baseline;
  readonly operations: readonly Operation[];
  /** The current time, in epoch milliseconds. */
  readonly now: number;
  /** Only this operation is reported. Undefined if all are. */
  readonly operation: string | undefined;
}

/** Returns the features of the program that has read the settings. */
export const featuresOf = ({ features }: Pick<Settings, 'features'>): readonly Feature[] =>
  // Settings know features only by their options, but a program reads them with its features.
  features.map(({ configurable }) => configurable as Feature);

/** The records of violations and traffic that a gateway keeps. Reports and other features read them. */
export interface Records extends LedgerReader {
  /** Opens the configured place. Until it is open, everything is in memory. Throws `StartFault`. */
  open(): Promise<void>;
  /** Records a finished request, at first only in memory. */
  record(trace: Trace): void;
  /** Waits until everything recorded so far has been written or counted as lost. */
  flush(): Promise<void>;
}

/** What records are made of. */
export interface RecordParts {
  readonly clock: Clock;
  readonly kindOf: KindOf;
  /** The release label under which requests and violations are counted. */
  readonly release: string;
  /** The ids of the contract's operations. */
  readonly operations: readonly string[];
}

/**
 * How commands use records without a running gateway. They find it in the list of features, so a command that needs
 * records says that there are none if no feature keeps them.
 */
export interface RecordKeeping<Options> {
  /** Returns the records at the configured place, or in a file. */
  at(options: Options, settings: Settings, file?: string): StoredRecords;
  /** Creates records in memory, such as those of a single walk. */
  inMemory(options: Options, parts: RecordParts): Records & { close(): Promise<void> };
  /** Creates records in a file, to which they are added. Once they are open, everything is written there. */
  inFile(
    options: Options,
    settings: Settings,
    file: string,
    parts: RecordParts & { readonly logger: Logger },
  ): Records & {
    close(): Promise<void>;
  };
}

/** Reads the file of accepted violations. Both functions throw a `StartFault` that lists all errors in the file. */
export interface AcceptanceReader<Options> {
  /** Opens the configured file, if the feature is on. A missing file is treated as empty. */
  open(options: Options, settings: Settings): AcceptedViolations;
  /** Reads the file once, for a report. The file must exist. */
  read(file: string): Baseline;
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
  /** Returns what identifies a violation: the same in headers, logs and records. */
  readonly kindOf: KindOf;
  /** What this gateway shares with others. Nothing need be done differently if there are no others. */
  readonly sharing: Sharing;
  readonly metrics: FeatureMetrics;
  /** The records of violations and traffic. Empty if no feature keeps them. */
  readonly records: LedgerReader;
  /** Returns whether a recorded violation is accepted now. */
  readonly isAccepted: IsAccepted;
  /** Returns the plan that new requests of an operation use. Undefined if there is none yet. */
  readonly planOf: (operation: string) => Plan | undefined;
  /**
   * Returns whether the roles in use let an account of this name use an operation. False if only the upstream knows, and
   * for unknown operations.
   */
  readonly mayUse: (account: string, operation: string) => boolean;
  /** Sends a request of the feature's own to the upstream, with the settings in use. */
  readonly ask: AskUpstream;
  /** Asks the upstream whether a password is right, with the settings in use. */
  readonly passwords: UpstreamPasswords;
  /** Makes the engine ask for an operation's levels again and compile its plan, which new requests then use. */
  readonly levelsChanged: (operation: string) => void;
  /** Returns a random number x (0 ≤ x < 1). */
  readonly random: () => number;
  /** Repeats clients' requests with the settings in use, also after a reload that does not restart the feature. */
  readonly repeater: RequestRepeater;
  /**
   * Records violations that the feature found in a finished request or its response: in the ledger, for the request's
   * caller, and in the metrics. They have no effect on the request. Either their category is an advisory one or
   * `difference`, or they state with `candidate` how another contract would decide.
   */
  readonly record: (request: Trace, violations: readonly Violation[]) => void;
  /**
   * Tells the features about a change that an operator made, if it did not come with a request to the admin side. Resolves
   * to false if a feature could not store it.
   */
  readonly acted: (action: OperatorAction) => Promise<boolean>;
  /** Returns the latest actions of operators on all gateways, oldest first. Empty if no feature keeps them. */
  readonly actions: () => Promise<readonly OperatorAction[]>;
  /**
   * Returns an upper bound of the share (0 to 1) of its callers who would notice another server, for each operation that
   * clients have used. Empty if no feature compares servers.
   */
  readonly noticing: () => ReadonlyMap<string, number>;
  /** Returns the gateway at work, for operators. It is there before the first request arrives. */
  readonly gateway: () => RunningGateway;
  /** Returns the pages of all features, in the order of the menu. Complete once all features have started. */
  readonly pages: () => readonly OperatorPage[];
  /** Returns the counts of requests, which grow as requests are counted. A reload may replace them. */
  readonly traffic: () => TrafficCounts;
  /** Records which documented fields a sampled response has, for the comparison of releases. */
  readonly recordFields: (operation: string, presence: FieldPresence) => void;
}

/** Decides which levels are in force where they differ from the configuration. */
export interface LevelSource {
  /** Returns what is in force for an operation, or undefined if its configuration is. Called when its plan is compiled. */
  of(configured: Omit<PlannedOperation, 'pageVersion'>): InForce | undefined;
}

/** A feature at work. Every member is optional; the engine calls only those that exist. */
export interface RunningFeature {
  /**
   * Loads and opens what `start` cannot, because it must return at once. Awaited before the first request uses the
   * feature. An error prevents the start of the gateway, or the reload.
   */
  open?(): Promise<void>;
  /**
   * Called when new requests begin to use this run: at the start and after a reload. If a reload fails after this, it is
   * called again for the earlier run.
   */
  use?(): void;
  /** The records of the feature. At most one feature has records. */
  readonly records?: Records;
  /** The levels that differ from the configuration. At most one feature has any. */
  readonly levels?: LevelSource;
  /** A second upstream that serves a part of the requests. At most one feature has one. */
  readonly second?: SecondUpstream;
  /** Verifiers of the feature's own credentials. They stand, in order, before the one that `authentication` names. */
  readonly verifiers?: readonly Verifier[];
  /** Verifiers that decide as `verifiers` do, but count nothing, for `portico explain`. By default, `verifiers`. */
  readonly passiveVerifiers?: readonly Verifier[];
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
  /**
   * Returns the methods that the middleware serves at a path of its own, so that web pages from other origins may use them
   * as far as they may use documented paths.
   */
  methodsAt?(path: string): readonly string[] | undefined;
  /** The parts of the admin side that belong to the feature. Read when new requests begin to use this run. */
  readonly adminRoutes?: readonly AdminRoute[];
  /** The feature's pages for operators. */
  readonly pages?: readonly OperatorPage[];
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
  /** Called with violations that a feature has found after a request had finished, in a trace that contains only them. */
  found?(trace: Trace): void;
  /** Called with the fields of a sampled response to a documented operation. */
  sampled?(operation: string, presence: FieldPresence): void;
  /** Called with each action of an operator. Resolves once the feature is done with it, to false if it could not store it. */
  acted?(action: OperatorAction): Promise<boolean>;
  /** Returns the latest stored actions, oldest first. At most one feature stores actions. */
  actions?(): Promise<readonly OperatorAction[]>;
  /** Returns who would notice another server, by operation. At most one feature knows. */
  noticing?(): ReadonlyMap<string, number>;
  close?(): Promise<void> | void;
}

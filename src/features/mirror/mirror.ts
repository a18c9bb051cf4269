import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { readAccounts } from '../../comparison/accounts.ts';
import { compileComparator } from '../../comparison/comparator.ts';
import type { Side } from '../../comparison/compare-values.ts';
import { zoneClock } from '../../comparison/dates.ts';
import { createIdentities, type IdPair } from '../../comparison/identities.ts';
import { parseIds } from '../../comparison/ids-file.ts';
import { createNoise, type NoiseRule, parseNoise } from '../../comparison/noise.ts';
import { createTargetReader } from '../../comparison/targets.ts';
import { readableFileFault } from '../../engine/config/secrets.ts';
import type { PrepareContext } from '../../engine/config/settings.ts';
import type { Feature, FeatureContext } from '../../engine/feature.ts';
import { type Fault, StartFault } from '../../engine/model/fault.ts';
import type { Operation } from '../../engine/model/operation.ts';
import type { Trace } from '../../engine/model/trace.ts';
import { createTraceSlot } from '../../engine/model/trace-slot.ts';
import type { Exchange } from '../../engine/pipeline/exchange.ts';
import { toCauseLine } from '../../engine/privacy/cause-line.ts';
import { compilePermissionMessage } from '../../engine/upstream/failures/permission-message.ts';
import { type UpstreamAddress, upstreamAddressOf } from '../../engine/upstream/upstream-url.ts';
import { toAuthorization } from '../../lib/basic-credentials.ts';
import { fileReason } from '../../lib/file-reason.ts';
import { isClearAndPublic } from '../../lib/network-address.ts';
import { IN_MEMORY } from '../../lib/replace-file.ts';
import { pauseUnref } from '../../lib/pause.ts';
import { readSecretFile } from '../../lib/secret-file.ts';
import { trimEndOf } from '../../lib/trim-end.ts';
import { createBudget } from './budget.ts';
import { BUSY, createCandidate } from './candidate.ts';
import { conversationOf, createCallerNumbers } from './choose-callers.ts';
import { createCredentialFor } from './credential-for.ts';
import { createParametersReader } from './given-parameters.ts';
import type { MirrorCounts, NotMade } from './mirror-counts.ts';
import { type MirroredExchange, type MirrorParts, mirrorExchange } from './mirror-exchange.ts';
import { METRICS, registerMetrics } from './mirror-metrics.ts';
import { readMirrorFile, type StoredMirror } from './mirror-file.ts';
import { mirrorPage, mirrorRouter } from './mirror-page.ts';
import { mirrorSections } from './mirror-sections.ts';
import { createMirrorStore, subjectOf } from './mirror-store.ts';
import { impersonalProblems, mirrorProblems, type MirrorOptions, options } from './options.ts';
import { createRareFirstQueue } from './rare-first-queue.ts';
import { type OwnerOf, readinessOf } from './readiness.ts';

/** The files that the options name. */
export interface Prepared {
  readonly ids: readonly IdPair[] | undefined;
  readonly noise: readonly NoiseRule[];
  /** The values of `Authorization` on the second server, by the callers' names. */
  readonly accounts: ReadonlyMap<string, string> | undefined;
  readonly stored: StoredMirror;
}

/** What is kept of an exchange until the client has its response. Everything else is decided afterwards. */
type Noted = Pick<MirroredExchange, 'exchange' | 'answer'> & { readonly operation: Operation };

const NOTED = createTraceSlot<Noted | undefined>();

/**
 * Repeats a part of the GET requests on a second server, once clients have their responses, and compares the responses
 * (docs/mirror.md). Clients never wait for the second server, and nothing that it sends reaches them.
 */
export const mirror = {
  name: 'mirror',
  options,
  metrics: METRICS,
  needsRestart: ['file'],
  files: {
    passwordFile: 'secret',
    accountsFile: 'document',
    idsFile: 'document',
    noiseFile: 'document',
    file: 'state',
  },
  namesSecondServer: true,
  // A walk sends requests of its own, which say nothing about callers.
  forWalk: (given) => ({ ...given, share: 0, floor: 0, file: IN_MEMORY }),
  check: mirrorProblems,
  checkContract: (given, { operations }) => impersonalProblems(given, operations),
  warn: ({ share, floor, credentials, forwardTo, username, passwordFile, accountsFile }) => [
    ...(share === 0 && floor === 0
      ? [{ pointer: '/mirror/url', message: 'has no effect: mirror.share and mirror.floor are 0' }]
      : []),
    ...(forwardTo !== undefined && credentials !== 'forward'
      ? [{ pointer: '/mirror/forwardTo', message: 'has no effect without mirror.credentials: forward' }]
      : []),
    ...(accountsFile !== undefined && credentials !== 'map'
      ? [{ pointer: '/mirror/accountsFile', message: 'has no effect without mirror.credentials: map' }]
      : []),
    ...((username ?? passwordFile) !== undefined && credentials !== 'service'
      ? [{ pointer: '/mirror/username', message: 'has no effect without mirror.credentials: service' }]
      : []),
  ],
  auditRules: [
    {
      id: 'mirror-in-the-clear',
      severity: 'high',
      key: '/mirror/url',
      risk: 'Requests, and with them callers’ passwords or that of the service account, cross a public network unencrypted.',
      fix: 'Use https, or a second server inside a private network.',
      find: ({ url }) => (isClearAndPublic(url) ? [new URL(url).origin] : []),
    },
  ],
  prepare: (context) => {
    const value = readFiles(context);
    return {
      value,
      subject: 'the files of the mirror',
      version: versionOf(value),
      warnings: ({ operations }) => unknownOperations(value.noise, operations, context),
    };
  },
  dependsOn: ({ upstream, mode }) => [upstream, mode],
  reportSections: mirrorSections,
  start(context) {
    const { options: given, settings, contract, operations, prepared, clock, logger, metrics, lasting } = context;
    if (given.share === 0 && given.floor === 0) return undefined;
    const address = { ...upstreamAddressOf(given.url, settings.placeOf('/mirror/url')), host: given.host };
    const subject = subjectOf(given);
    const store = lasting(
      () => createMirrorStore({ ...context, subject, stored: prepared.stored, file: given.file }),
      (one) => one.close(),
    );
    const counts = store.countsFor(subject);
    const ownerOf = createOwnerOf(context);
    const closing = new AbortController();
    const { signal } = closing;
    const budget = createBudget(given.budget, clock);
    const candidate = createCandidate({
      options: given,
      address,
      clock,
      onReceived: budget.spend,
      onCircuit: ({ opened }) =>
        opened
          ? logger.warn({ mirror: { label: given.label } }, 'the mirror pauses, because the second server fails')
          : logger.info({ mirror: { label: given.label } }, 'the mirror continues'),
    });
    const transparent = settings.mode.transparent;
    const ids = createIdentities(prepared.ids === undefined ? 'same' : 'given', prepared.ids);
    const parts: MirrorParts = {
      ...context,
      candidate,
      ids,
      budget,
      counts,
      numberOf: store.numberOf,
      transparent,
      signal,
      label: given.label,
      versions: { contract: contract.version, release: settings.release },
      askAgainMs: given.askAgainMs,
      maxResponseBytes: given.maxResponseBytes,
      readTarget: createTargetReader(contract),
      comparator: compileComparator({
        contract,
        failures: {
          isPermissionMessage: compilePermissionMessage(settings.upstream.permissionMessages),
          jsonLimits: { depth: settings.upstream.maxJsonDepth, values: settings.upstream.maxJsonValues },
        },
        ids,
        noise: createNoise(prepared.noise, clock()),
        old: sideOf(context.address, settings.upstream.legacyOrigins, given.upstreamZone),
        new: sideOf(address, given.addresses, given.zone),
        eachAlone: true,
      }),
      pause: pauseUnref,
    };
    const parametersOf = createParametersReader(operations);
    const decide = createDecision(given, {
      counts,
      credentialFor: createCredentialFor({
        options: given,
        service: serviceOf(given),
        accounts: prepared.accounts,
        transparent,
        hasServiceAccount: settings.upstream.credentials.kind === 'service',
        sessionCookies: new Set(settings.upstream.sessionCookies),
      }),
    });
    const mirrored = new Set(operations.flatMap(({ id, method }) => (method === 'GET' ? [id] : [])));
    const queue = createRareFirstQueue<MirroredExchange>(given.queue, counts.comparedOf);
    const running = new Set<Promise<void>>();
    let timer: NodeJS.Timeout | undefined;
    const run = async (item: MirroredExchange) => {
      try {
        await mirrorExchange(item, parts);
      } catch (error) {
        counts.notComparable(item, 'internal error');
        logger.error({ cause: toCauseLine(error) }, 'a mirrored request could not be compared');
      }
    };
    /** Sends as many of the waiting requests as the limits allow. */
    const pump = () => {
      clearTimeout(timer);
      timer = undefined;
      while (!signal.aborted && queue.size > 0 && running.size < given.concurrency) {
        if (candidate.isPaused() && running.size > 0) return;
        const waitMs = budget.waitMs();
        if (waitMs > 0) {
          timer = setTimeout(pump, waitMs).unref();
          return;
        }
        const item = queue.take();
        if (item === undefined) return;
        if (clock() - item.at > given.queue.seconds * 1000) {
          counts.notMade(item, 'waited too long');
          continue;
        }
        budget.take();
        const one = run(item).finally(() => {
          running.delete(one);
          pump();
        });
        running.add(one);
      }
    };
    registerMetrics(metrics, { counts, ownerOf, mirrored, isPaused: candidate.isPaused, waiting: () => queue.size });
    const acceptanceFile = () => context.gateway().acceptance()?.file;
    const shown = { totals: store.totals, given, address, candidate, ownerOf, acceptanceFile };
    return {
      open: store.open,
      noticing: () => new Map(readinessOf(counts.own(), ownerOf).map((row) => [row.operation, row.callersAtMost])),
      messages: {
        response(exchange, operation, { status, mediaType, bytes }) {
          if (operation.method !== 'GET' || exchange.arrival.method !== 'GET') return;
          // Another server has sent this response: the mirrored one, or one that the results do not concern.
          if (exchange.trace.side?.isSecond === true) return;
          NOTED.set(exchange.trace, { exchange, operation, answer: { status, mediaType, body: bytes } });
        },
      },
      finished(trace) {
        const id = trace.operation ?? '';
        if (trace.method !== 'GET' || !mirrored.has(id)) return;
        const noted = NOTED.get(trace);
        const status = trace.upstream?.status ?? 0;
        if (noted === undefined) {
          leaveOutUnnoted({ operation: id, status, role: '', parameters: [] }, trace, counts);
          return;
        }
        NOTED.set(trace, undefined);
        const { exchange, answer, operation } = noted;
        const parameters = parametersOf(id, exchange.arrival.query);
        const cell = { operation: id, status, role: roleOf(exchange), parameters };
        const decision = decide(exchange, operation, trace);
        if (typeof decision === 'string') return counts.notMade(cell, decision);
        const because = incomparable(trace, answer.status, answer.body.length, given.maxResponseBytes);
        if (because !== undefined) return counts.notComparable(cell, because);
        if (signal.aborted) return counts.notMade(cell, 'interrupted');
        const item = { ...cell, ...decision, exchange, trace, answer, bytes: answer.body.length, at: clock() };
        for (const dropped of queue.add(item)) counts.notMade(dropped, 'queue full');
        pump();
      },
      pages: [mirrorPage(shown)],
      adminRoutes: [{ path: '/mirror', access: 'operator', handler: mirrorRouter(shown) }],
      async close() {
        clearTimeout(timer);
        closing.abort();
        for (let item = queue.take(); item !== undefined; item = queue.take()) counts.notMade(item, 'interrupted');
        await Promise.all([...running, candidate.close()]);
      },
    };
  },
} as const satisfies Feature<typeof options, Prepared>;

/** Returns whether the legacy server has accepted the caller's credential: only then does the name belong to the caller. */
const isConfirmed = ({ upstream }: Trace): boolean =>
  upstream?.denied === true || (upstream?.status !== undefined && upstream.status >= 200 && upstream.status < 300);

/** Creates the function that says who has accepted a difference. */
function createOwnerOf({
  isAccepted,
  gateway,
}: Pick<FeatureContext<MirrorOptions>, 'isAccepted' | 'gateway'>): OwnerOf {
  return (fingerprint) => {
    if (!isAccepted({ fingerprint, check: 'responses', status: undefined })) return undefined;
    const entry = gateway()
      .acceptance()
      ?.read()
      .accepted.find((one) => one.fingerprint === fingerprint);
    return entry?.owner ?? '';
  };
}

/** Returns a digest of what was read, except the counts, which the running mirror has newer. */
function versionOf({ ids, noise, accounts }: Prepared): string {
  return hash('sha256', JSON.stringify([ids, noise, accounts && [...accounts]]), 'base64url');
}

/** Creates the function that decides whether an exchange is mirrored, and with which credential, or why it is not. */
function createDecision(
  { share, seed, floor, credentials }: Pick<MirrorOptions, 'share' | 'seed' | 'floor' | 'credentials'>,
  parts: { readonly counts: MirrorCounts; readonly credentialFor: ReturnType<typeof createCredentialFor> },
) {
  const numberOf = createCallerNumbers(seed);
  return (
    exchange: Exchange,
    operation: Operation,
    trace: Trace,
  ): NotMade | Pick<MirroredExchange, 'caller' | 'authorization'> => {
    const caller = conversationOf(exchange);
    const isChosen = numberOf(caller) < share || parts.counts.comparedLately(operation.id) < floor;
    if (!isChosen) return 'caller not chosen';
    const credential = parts.credentialFor(exchange, operation);
    if (credential === undefined) return 'credential';
    // Otherwise, somebody who only knows a name could have its account used.
    const isClaim = credentials === 'map' && exchange.principal.kind === 'unverified';
    if (isClaim && !isConfirmed(trace)) return 'credential';
    return { caller, authorization: credential.authorization };
  };
}

/** Names of roles by the grants that they belong to, which are the same object for the same caller. */
const roleNames = new WeakMap<object, string>();

/** Returns the caller's roles in a form for reports. */
function roleOf({ principal, grants }: Exchange): string {
  if (grants.roles.length > 0) {
    const name = roleNames.get(grants) ?? grants.roles.toSorted().join('+').slice(0, 100);
    roleNames.set(grants, name);
    return name;
  }
  return principal.kind === 'anonymous' ? 'anonymous' : 'no role';
}

/** Counts an exchange of which no response was kept. What Portico itself has refused is no exchange. */
function leaveOutUnnoted(cell: Parameters<MirrorCounts['notMade']>[0], trace: Trace, counts: MirrorCounts): void {
  const { cache, upstream, background } = trace;
  if (background !== true && (cache?.status === 'hit' || cache?.status === 'stale'))
    return counts.notMade(cell, 'stored page');
  if (cache?.status === 'coalesced') return counts.notMade(cell, 'shared response');
  if (upstream === undefined) return undefined;
  if (trace.side?.isSecond === true) return counts.notMade(cell, 'other server');
  counts.notComparable(
    cell,
    upstream.status === undefined ? 'old server: no response' : 'old server: response not read',
  );
}

/** The statuses of responses that depend on what the client has stored. */
const CONDITIONAL: ReadonlySet<number> = new Set([206, 304, 412, 416]);

/** Returns why a response of the legacy server cannot be compared, or undefined if it can. */
function incomparable(trace: Trace, status: number, bytes: number, maxBytes: number): string | undefined {
  if (CONDITIONAL.has(status)) return 'old server: conditional response';
  if (BUSY.has(status)) return `old server: status ${status}`;
  if (trace.failure !== undefined) return 'old server: no response';
  return bytes > maxBytes ? 'old server: too large' : undefined;
}

function sideOf({ origin, basePath }: UpstreamAddress, others: readonly string[], zone: string): Side {
  const own = [...new Set([origin + basePath, origin, ...others.map((one) => trimEndOf(one, '/'))])];
  return { own: own.toSorted((a, b) => b.length - a.length), basePath, clock: zoneClock(zone), zone };
}

function serviceOf({ credentials, username = '', passwordFile = '' }: MirrorOptions): string | undefined {
  if (credentials !== 'service') return undefined;
  const reading = readSecretFile(passwordFile);
  return 'text' in reading ? toAuthorization(username, reading.text) : undefined;
}

/** Returns a warning for each noise rule whose operation is not in the contract. */
function unknownOperations(
  rules: readonly NoiseRule[],
  operations: readonly Pick<Operation, 'id'>[],
  { settings }: Pick<PrepareContext<MirrorOptions>, 'settings'>,
): readonly Fault[] {
  const known = new Set(operations.map(({ id }) => id));
  return rules.flatMap(({ operation, at }) =>
    known.has(operation)
      ? []
      : [
          {
            ...settings.placeOf('/mirror/noiseFile'),
            message: `the rule for ${operation} ${at} never applies: the contract has no such operation`,
          },
        ],
  );
}

/** Reads the files of id pairs and noise rules. Throws a StartFault with all of their errors. */
function readFiles({ options: given, settings, earlier }: PrepareContext<MirrorOptions, Prepared>): Prepared {
  const faults: Fault[] = [];
  const textOf = (option: 'idsFile' | 'noiseFile' | 'accountsFile'): string | undefined => {
    const file = given[option];
    if (file === undefined) return undefined;
    try {
      return readFileSync(file, 'utf8');
    } catch (error) {
      const message = `the file ${file} cannot be read: ${fileReason(error)}`;
      faults.push({ ...settings.placeOf(`/mirror/${option}`), message });
      return undefined;
    }
  };
  const attempt = <T>(read: () => T): T | undefined => {
    try {
      return read();
    } catch (error) {
      if (!(error instanceof StartFault)) throw error;
      faults.push(...error.faults);
      return undefined;
    }
  };
  const [idsText, noiseText] = [textOf('idsFile'), textOf('noiseFile')];
  const ids = idsText === undefined ? undefined : attempt(() => parseIds(idsText, given.idsFile ?? ''));
  const noise = noiseText === undefined ? undefined : parseNoise(noiseText, given.noiseFile ?? '', undefined);
  faults.push(...(noise?.faults ?? []));
  const accountsText = given.credentials === 'map' ? textOf('accountsFile') : undefined;
  const accounts =
    accountsText === undefined
      ? undefined
      : attempt(() =>
          readAccounts(accountsText, given.accountsFile ?? '', (path) => readableFileFault(settings, path)),
        );
  const stored = attempt(
    // The running gateway has newer counts than the file.
    () => earlier?.stored ?? readMirrorFile(settings, given.file),
  );
  if (faults.length > 0 || stored === undefined) throw new StartFault(faults);
  return { ids, noise: noise?.rules ?? [], accounts, stored };
}

import { createHash } from 'node:crypto';
import { readStateFile } from '../../engine/config/state-files.ts';
import type { Feature } from '../../engine/feature.ts';
import { isSafe } from '../../engine/model/safe-methods.ts';
import type { Side } from '../../engine/model/trace.ts';
import type { SecondUpstream } from '../../engine/pipeline/sides.ts';
import { serviceAuthorization } from '../../engine/upstream/upstream-options.ts';
import { upstreamAddressOf } from '../../engine/upstream/upstream-url.ts';
import { isClearAndPublic } from '../../lib/network-address.ts';
import { IN_MEMORY } from '../../lib/replace-file.ts';
import { readCutoverFile, type StoredCutover } from './cutover-file.ts';
import { CIRCUIT, EXCEEDED, EXCHANGES, METRICS, PHASE, SECONDS, SHARE, STAYING } from './cutover-metrics.ts';
import { cutoverPage } from './cutover-page.ts';
import { ACTIONS, createCutoverRouter } from './cutover-routes.ts';
import { decisionJson, PHASES } from './cutover-state.ts';
import { createCutoverStore, POINTER } from './cutover-store.ts';
import { createNewServers } from './new-server.ts';
import { nextStep } from './next-step.ts';
import { cutoverProblems, operationProblems, options, UNDOCUMENTED, upstreamOptionsOf } from './options.ts';
import { sampleOf } from './sample-of.ts';
import { type Caller, createCallers, isMoved, percentOf, sharesUnder } from './shares.ts';
import { PASSIVE_STAGE, stayWithServer } from './stay-with-server.ts';
import { createWatch, type Exceeded } from './watch.ts';

const OLD: Side = { name: 'old', isSecond: false };
const NEW: Side = { name: 'new', isSecond: true };
const HEADER = 'X-Portico-Side';

/** Moves callers to a new server step by step, and back at once if it fails (docs/cutover.md). */
export const cutover = {
  name: 'cutover',
  options,
  needsRestart: ['file'],
  files: { file: 'state', passwordFile: 'secret' },
  metrics: METRICS,
  logFields: ['side'],
  commands: [{ name: 'cutover', load: async (tools) => (await import('./cutover-command.ts')).cutoverCommand(tools) }],
  // A walk is about the upstream.
  namesSecondServer: true,
  forWalk: (given) => ({ ...given, operations: {}, file: IN_MEMORY }),
  check: cutoverProblems,
  checkContract: (given, { operations }) => operationProblems(given, operations),
  warn: ({ operations }, { settings }) => [
    ...(settings.mode.transparent
      ? [{ pointer: '/cutover', because: 'in observe mode, the upstream serves every request' }]
      : []),
    ...(Object.keys(operations).length === 0
      ? [{ pointer: '/cutover/operations', message: 'is empty, so the new server serves nobody' }]
      : []),
  ],
  auditRules: [
    {
      id: 'cutover-in-the-clear',
      severity: 'high',
      key: '/cutover/url',
      risk: 'Requests, and with them callers’ passwords or that of the service account, cross a public network unencrypted.',
      fix: 'Use https, or a new server inside a private network.',
      find: ({ url, upstream: { alternates } }) =>
        [url, ...alternates].flatMap((one) => (isClearAndPublic(one) ? [new URL(one).origin] : [])),
    },
  ],
  // The running gateway knows more than the file.
  prepare: ({ options: { file }, settings, earlier }) => ({
    value:
      earlier ??
      readStateFile(
        settings,
        { file, pointer: POINTER },
        { kind: 'cut-over file', start: 'with the configured shares' },
        readCutoverFile,
      ),
  }),
  dependsOn: ({ mode, upstream }) => [mode.name, upstream],
  start(context) {
    const { options: given, settings, operations, metrics, lasting, clock, logger, prepared } = context;
    const isOff = settings.mode.transparent || Object.keys(given.operations).length === 0;
    if (isOff) return undefined;
    const kept = lasting(
      () => {
        const opened = createNewServers(clock, (change) =>
          change.opened
            ? logger.warn('requests to the new server are paused, because it keeps failing')
            : logger.info('requests to the new server continue'),
        );
        return {
          store: createCutoverStore({
            ...context,
            stored: prepared,
            file: given.file,
            server: given.url,
            // Nobody should get an error because the new server failed before.
            onResume: () => opened.closeCircuit(),
          }),
          servers: opened,
        };
      },
      async ({ store, servers }, graceMs) => {
        await Promise.all([store.close(), servers.close(graceMs)]);
      },
    );
    const { store, servers } = kept;
    const upstreamOptions = upstreamOptionsOf(given, settings.upstream);
    const address = upstreamAddressOf(given.url, settings.placeOf('/cutover/url'));
    const upstream = servers.open(address, upstreamOptions);
    const service = serviceAuthorization(upstreamOptions.credentials, {});
    const ids = operations.map(({ id }) => id);
    const watch = createWatch(given.return, ids, clock);
    const callerOf = createCallers(given);
    /** When this gateway began to apply the shares, and the number of exchanges with the new server since. */
    let changedAt = clock();
    let served = 0;
    /** When this gateway last knew of an exceeded limit (0: never). */
    let exceededAt = Math.min(store.latest().exceededAt, clock());
    let inForce = store.inForce();
    let resumedAt = store.resumedAt();
    let shares = sharesUnder(given, operations, inForce);
    /** Returns the shares that apply now. */
    const sharesNow = () => {
      const decision = store.inForce();
      if (decision === inForce) return shares;
      // What has led to a return or a freeze stays visible until somebody resumes, and must not lead to another one.
      if (store.resumedAt() > resumedAt) watch.forget();
      resumedAt = store.resumedAt();
      if (decision.raised !== inForce.raised || decision.lowered !== inForce.lowered) {
        served = 0;
        changedAt = clock();
      }
      if (decision.exceededAt !== inForce.exceededAt) exceededAt = clock();
      inForce = decision;
      shares = sharesUnder(given, operations, decision);
      return shares;
    };

    // What is stored about callers does not apply to another server, nor under other configured shares.
    const configured = createHash('sha256')
      .update(JSON.stringify([given.url, given.seed, given.operations]))
      .digest('base64url');
    const keyOf = ({ key }: Caller) => `${configured} ${key}`;
    const stayingOf = (caller: Caller) =>
      caller.listed === 'old' ? undefined : store.stays.of(keyOf(caller), store.inForce());

    const usesSecond: SecondUpstream['usesSecond'] = ({ arrival, operation, name }) => {
      const now = sharesNow();
      const share = now.of(operation?.id ?? UNDOCUMENTED);
      if (share === undefined || now.isReturned) return false;
      const caller = callerOf({ arrival, name });
      if (isSafe(operation?.method ?? arrival.method)) {
        const staying = stayingOf(caller);
        if (staying !== undefined) return staying === 'new';
      } else if (operation === undefined && given.operations[UNDOCUMENTED]?.writes !== true) return false;
      return isMoved(caller, share);
    };
    /** Returns whether something that reads would be served by the other server. */
    const mustStay = (caller: Caller, side: Side): boolean => {
      const { reads, isReturned } = sharesNow();
      if (reads === undefined || isReturned) return false;
      const { lowest, highest } = reads;
      return side.isSecond ? !isMoved(caller, lowest) : isMoved(caller, highest);
    };
    const stage = stayWithServer(({ trace: { side }, principal: { name }, arrival }) => {
      if (side === undefined) return undefined;
      const caller = callerOf({ arrival, name });
      if (!mustStay(caller, side)) return undefined;
      return store.stays.add(keyOf(caller), side.isSecond ? 'new' : 'old', inForce);
    });

    const countExchange = metrics.counter(EXCHANGES, [
      ['old', 'new'],
      ['ok', 'failed', 'violated', 'refused'],
    ]);
    const seconds = { old: 0, new: 0 };
    metrics.read(SECONDS, () => [
      [['old'], seconds.old],
      [['new'], seconds.new],
    ]);
    const taking = [...ids, UNDOCUMENTED].filter((id) => shares.of(id) !== undefined);
    metrics.read(SHARE, () => taking.map((id) => [[id], sharesNow().of(id) ?? 0]));
    metrics.read(PHASE, () => PHASES.map((phase) => [[phase], Number(store.latest().phase === phase)]));
    metrics.read(STAYING, () => [[[], store.staying()]]);
    metrics.read(CIRCUIT, () => [[[], Number(servers.isPaused())]]);
    const countExceeded = metrics.counter(EXCEEDED, [['errors', 'violations', 'refusals', 'latency', 'differences']]);

    /** Makes a decision of Portico's own, and tells everybody about it. */
    const decideAlone = async (decision: Parameters<typeof store.decide>[0], action: string) => {
      const before = store.latest();
      const { decision: made, kept: keeping } = store.decide(decision);
      logger.warn({ cutover: decisionJson(made) }, action);
      // If another gateway has decided the same at the same time, it has added that.
      if ((await keeping) === undefined) return;
      await context.acted({
        at: made.at,
        actor: 'portico',
        way: 'portico',
        action,
        outcome: 'done',
        subject: { server: given.url },
        before: { phase: before.phase, shares: before.shares },
        after: { phase: made.phase, shares: made.shares, reason: made.reason },
      });
    };
    let reportedAt = -Infinity;
    const exceeded = ({ limit, operation, words }: Exceeded) => {
      const { phase } = store.latest();
      exceededAt = clock();
      // These exchanges began before the return.
      if (phase === 'returned') return;
      const { action, windowSeconds } = given.return;
      const reason = `${limit}${operation === undefined ? '' : ` of ${operation}`}: ${words}`;
      const why = { cause: 'limit', reason, by: undefined, from: undefined } as const;
      if (action === 'return') {
        countExceeded(limit);
        void decideAlone({ ...why, phase: 'returned', moves: 'back' }, 'cut-over returned');
      } else if (action === 'freeze' && phase === 'running') {
        countExceeded(limit);
        void decideAlone({ ...why, phase: 'frozen' }, 'cut-over frozen');
      } else if (clock() - reportedAt >= windowSeconds * 1000) {
        reportedAt = clock();
        countExceeded(limit);
        logger.warn({ cutover: { limit, operation, reason } }, 'the new server exceeds a limit');
      }
    };
    const stepForward = nextStep(given, clock, () => {
      const known = context.noticing();
      const concerned = ids.flatMap((id) => (given.operations[id] === undefined ? (known.get(id) ?? []) : []));
      // If nothing is known, everybody may notice.
      return concerned.length === 0 ? 1 : Math.max(...concerned);
    });
    const routes = { store, given, operations, watch, shares: sharesNow, isPaused: servers.isPaused };
    return {
      second: {
        sides: { first: OLD, second: NEW },
        address,
        options: upstreamOptions,
        upstream,
        serviceAuthorization: 'fault' in service ? undefined : service.authorization,
        usesSecond,
      },
      stages: [stage],
      passiveStages: [PASSIVE_STAGE],
      async open() {
        await store.open();
        servers.startProbes();
      },
      use() {
        servers.use(upstream);
        store.useServer(given.url);
      },
      describe({ operation: { id } }, { arrival, principal: { name }, trace: { side } }) {
        const share = sharesNow().of(id);
        if (side === undefined) return [];
        return [['side', `${side.name}: ${whyOf(share, callerOf({ arrival, name }), side)}`]];
      },
      addHeaders(trace, headers) {
        if (given.sideHeader && trace.side !== undefined) headers.push(HEADER, trace.side.name);
      },
      logMembers: ({ side }) => side && { side: side.name },
      finished(trace) {
        const sample = sampleOf(trace);
        if (sample === undefined) return;
        const { side, failed, violated, refused, seconds: took = 0 } = sample;
        countExchange(side, failed ? 'failed' : violated ? 'violated' : refused ? 'refused' : 'ok');
        seconds[side] += took;
        sharesNow();
        if (side === 'new' && trace.startedAt < resumedAt) return;
        const found = watch.take(sample);
        if (found !== undefined) exceeded(found);
        if (side === 'old') return;
        served += 1;
        // While another decision is about to apply, the rule waits for it.
        const step = store.latest() === inForce ? stepForward(inForce, served, changedAt, exceededAt) : undefined;
        if (step !== undefined) void decideAlone(step, 'cut-over step by the rule');
      },
      found({ violations }) {
        if (violations.every(({ category }) => category !== 'difference')) return;
        const found = watch.difference();
        if (found !== undefined) exceeded(found);
      },
      pages: [cutoverPage(routes)],
      adminRoutes: [{ path: '/cutover', access: 'operator', handler: createCutoverRouter(routes), actions: ACTIONS }],
      close: () => servers.leave(upstream),
    };

    function whyOf(share: number | undefined, caller: Caller, { isSecond }: Side): string {
      const { phase, reason } = store.inForce();
      if (share === undefined) return 'the operation does not take part';
      if (phase === 'returned') return `returned: ${reason}`;
      const staying = stayingOf(caller);
      if (staying !== undefined && (staying === 'new') === isSecond)
        return 'the caller stays there, because that server has got a write of the caller';
      if (caller.listed !== undefined) return `the caller is in ${caller.listed === 'new' ? 'allow' : 'deny'}`;
      const place = `the caller comes after ${(caller.number * 100).toFixed(1)}% of the callers`;
      return `${place}, and the share is ${percentOf(share)}%`;
    }
  },
} as const satisfies Feature<typeof options, StoredCutover>;

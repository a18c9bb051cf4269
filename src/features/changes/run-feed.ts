import { setTimeout as sleep } from 'node:timers/promises';
import type { FeatureContext } from '../../engine/feature.ts';
import type { PublicMiddleware } from '../../engine/http/public-app.ts';
import { toCauseLine } from '../../engine/privacy/cause-line.ts';
import type { Clock } from '../../lib/clock.ts';
import { createSender } from './deliver.ts';
import type { ChangesMetrics } from './changes-metrics.ts';
import type { FeedStore } from './feed-store.ts';
import { followedLists } from './followed-list.ts';
import type { ChangesOptions } from './options.ts';
import { createPoller, type Poller } from './poller.ts';
import { pauseUnref } from '../../lib/pause.ts';
import { createAddressCheck, createCheckedLookup } from './private-networks.ts';
import { readPage } from './read-list.ts';
import { serveEvents } from './serve-events.ts';
import { createShownItem } from './shown-item.ts';
import { createSubscribers, type Subscribers } from './subscribers.ts';
import { createTurns } from './turns.ts';
import { createOwnWatch } from './watch-own.ts';
import { createWebhooks, type Webhook, type Webhooks } from './webhooks.ts';

/** What the files that the options name contain. */
export interface ReadSecrets {
  /** The `Authorization` value with which lists are read. Undefined if no lists are read. */
  readonly authorization: string | undefined;
  readonly webhooks: readonly Webhook[];
}

/** The change feed at work. */
export interface RunningFeed {
  readonly poller: Poller;
  readonly webhooks: Webhooks;
  readonly subscribers: Subscribers;
  readonly store: FeedStore;
  readonly lineage: () => string;
  /** The path under which subscribers find the feed. */
  readonly path: string;
  readonly middleware: PublicMiddleware;
  /** Returns the methods of a path of the feed. */
  methodsAt(path: string): readonly string[] | undefined;
  /** Returns whether this gateway reads the lists and sends webhooks, rather than another one. */
  isWorking(): boolean;
  open(): Promise<void>;
  /** Begins to work. */
  start(): void;
  close(): Promise<void>;
}

/** How often the feed looks whether anything is due, in milliseconds. The clock of the gateway decides what is. */
const TICK_MS = 100;

/** The same for work that asks the store. */
const SLOW_TICK_MS = 500;

/** How often the feed finds out whether the store has lost its data, in milliseconds. */
const LINEAGE_MS = 5_000;

/** The end of the path under which the feed is served. Paths of the API end in an extension, so they differ. */
const FOLDER = 'changes/';

/** Creates the feed. It does nothing before it is started. */
export function createFeed(
  context: FeatureContext<ChangesOptions, ReadSecrets>,
  store: FeedStore,
  metrics: ChangesMetrics,
): RunningFeed {
  const { options, settings, contract, operations, prepared, sharing, clock, logger, random } = context;
  const lists = prepared.authorization === undefined ? [] : followedLists(operations, options.lists);
  const shownItems = new Map(lists.map((list) => [list, createShownItem(contract, list.changes)]));
  const turns = createTurns(sharing, clock, options.requestsPerMinute);
  const closing = new AbortController();
  const { signal } = closing;
  const { maxJsonDepth: depth, maxJsonValues: values } = settings.upstream;
  let lineage = '';
  let readLineageAt = -Infinity;
  let isMine = false;

  const poller = createPoller({
    lists,
    store,
    turns,
    everySeconds: options.everySeconds,
    maxItems: options.maxItems,
    clock,
    random,
    logger,
    events: metrics.poller,
    wait: (ms, stop) => waitByClock(clock, ms, stop),
    readPage: (list, page, stop) =>
      readPage(
        list,
        page,
        {
          ask: context.ask,
          contract,
          isAccepted: context.isAccepted,
          kindOf: context.kindOf,
          authorization: prepared.authorization ?? '',
          pageSize: options.pageSize,
          jsonLimits: { depth, values },
          clock,
          shownItem: (one) => shownItems.get(one) ?? createShownItem(contract, one.changes),
        },
        stop,
      ),
  });
  const watch = createOwnWatch({
    records: context.records,
    isAccepted: context.isAccepted,
    gateway: context.gateway,
    logger,
    operations: operations.map(({ id }) => id),
    settings,
    store,
    turns,
    clock,
  });
  const mayUseAddress = createAddressCheck(options.allowPrivate);
  const sender = createSender(createCheckedLookup(mayUseAddress), mayUseAddress, clock);
  const webhooks = createWebhooks({
    webhooks: prepared.webhooks,
    store,
    lineage: () => lineage,
    turns,
    sender,
    clock,
    random,
    logger,
    mayUse: context.mayUse,
    isStillTrue: watch.isStillTrue,
    onResult: metrics.delivered,
  });
  const subscribers = createSubscribers({
    store,
    lineage: () => lineage,
    clock,
    limits: options,
    onEnd: metrics.disconnected,
  });
  store.onEvents(subscribers.tell);
  const base = `${settings.profile.basePath}${FOLDER}`;

  /** A store that cannot be reached is asked again later. */
  const readLineage = async () => {
    const known = lineage;
    if (known !== '' && clock() < readLineageAt) return;
    readLineageAt = clock() + LINEAGE_MS;
    lineage = await Promise.resolve(known)
      .then(() => store.lineage())
      .catch(() => known);
    // The numbers of events begin again, so subscribers would wait for events that they regard as old.
    if (known !== '' && lineage !== known) subscribers.endAll('history');
  };
  // Streams would keep a gateway that closes waiting. Their clients connect to another one.
  const sweep = () => (context.gateway().isClosing() ? subscribers.close() : subscribers.sweep());
  const work: readonly (readonly [name: string, everyMs: number, one: () => Promise<void>])[] = [
    ...lists.map((list) => [list.operation.id, TICK_MS, () => poller.tick(list, signal)] as const),
    ['subscribers', TICK_MS, async () => Promise.resolve(sweep())],
    ...prepared.webhooks.map((one) => [`webhook ${one.name}`, SLOW_TICK_MS, () => webhooks.tick(one, signal)] as const),
    ['violations', SLOW_TICK_MS, async () => (options.violations ? watch.tick() : undefined)],
    ['turns', SLOW_TICK_MS, async () => void (isMine = await turns.isMine())],
    ['lineage', SLOW_TICK_MS, readLineage],
  ];
  /** Repeats a piece of work until the feed is closed. Its failures are logged, and it goes on. */
  const repeat = async (name: string, everyMs: number, one: () => Promise<void>) => {
    while (!signal.aborted) {
      try {
        await one();
      } catch (error) {
        if (!signal.aborted)
          logger.error({ work: name, cause: toCauseLine(error) }, 'a part of the change feed failed');
      }
      await pauseUnref(everyMs, signal);
    }
  };
  let running: Promise<unknown> | undefined;

  return {
    poller,
    webhooks,
    subscribers,
    store,
    lineage: () => lineage,
    path: `${settings.publicBasePath}${base}events`,
    middleware: serveEvents({
      base,
      publicBasePath: settings.publicBasePath,
      lists,
      store,
      lineage: () => lineage,
      subscribers,
      clock,
    }),
    methodsAt: (path) => (path.startsWith(base) ? ['GET'] : undefined),
    isWorking: () => isMine,
    open: readLineage,
    start() {
      running ??= Promise.all(work.map((one) => repeat(...one)));
    },
    async close() {
      closing.abort();
      subscribers.close();
      await running;
      await turns.giveUp();
      await sender.close();
    },
  };
}

/** Waits until the clock has advanced. Clocks of tests can advance at any time. */
async function waitByClock(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
  const end = clock() + ms;
  for (let left = ms; left > 0; left = end - clock())
    await sleep(Math.min(left, TICK_MS), undefined, { signal, ref: false });
}

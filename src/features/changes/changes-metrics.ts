import type { FeatureMetrics } from '../../engine/telemetry/metric-registry.ts';
import type { FollowedList } from './followed-list.ts';
import { type Poller, type PollerEvents, READING_OUTCOMES } from './poller.ts';
import { DISCONNECTS, type Subscribers } from './subscribers.ts';
import { DELIVERY_RESULTS, type Webhooks, type WebhookStatus } from './webhooks.ts';

const LAG = {
  name: 'portico_changes_lag_seconds',
  type: 'gauge',
  labels: ['list'],
  help: 'Time since the list was last read completely, on the gateway that reads the lists; since the start of the feed if it never was.',
} as const;

const READINGS = {
  name: 'portico_changes_readings_total',
  type: 'counter',
  labels: ['list', 'outcome'],
  help: 'Readings of lists, by outcome: complete, unsorted (everything had to be read), truncated, invalid (the response violates the contract), failed, refused, busy (clients need the upstream more) or conflict (another gateway has read the list).',
} as const;

const REQUESTS = {
  name: 'portico_changes_upstream_requests_total',
  type: 'counter',
  labels: [],
  help: 'Requests that the change feed sent to the upstream. The limit is changes.requestsPerMinute.',
} as const;

const EVENTS = {
  name: 'portico_changes_events_total',
  type: 'counter',
  labels: ['list', 'change'],
  help: 'Events that were stored, by list and change: created, changed, or the growth of a count, such as answered.',
} as const;

const SUBSCRIBERS = {
  name: 'portico_changes_subscribers',
  type: 'gauge',
  labels: [],
  help: 'Open event streams.',
} as const;

const ENDED = {
  name: 'portico_changes_disconnects_total',
  type: 'counter',
  labels: ['reason'],
  help: 'Event streams that Portico ended: slow (the client did not read), revoked (the caller may not read any more), history (events were removed before the client had them), closing or failed.',
} as const;

const DELIVERIES = {
  name: 'portico_changes_deliveries_total',
  type: 'counter',
  labels: ['webhook', 'result'],
  help: 'Messages of webhooks, by result of the attempt: delivered, failed, dead (given up), withdrawn (no longer true or allowed) or lost (removed before the first attempt).',
} as const;

const BACKLOG = {
  name: 'portico_changes_backlog',
  type: 'gauge',
  labels: ['webhook'],
  help: 'Events that a webhook has not processed yet, on the gateway that sends the messages.',
} as const;

const DEAD = {
  name: 'portico_changes_dead_letters',
  type: 'gauge',
  labels: ['webhook'],
  help: 'Messages of a webhook that were given up and can be sent again on the console, on the gateway that sends them.',
} as const;

const WORKING = {
  name: 'portico_changes_working',
  type: 'gauge',
  labels: [],
  help: '1 on the gateway that reads the lists and sends the messages of webhooks, otherwise 0.',
} as const;

/** The metrics of the change feed. */
export const CHANGES_METRICS = [
  LAG,
  READINGS,
  REQUESTS,
  EVENTS,
  SUBSCRIBERS,
  ENDED,
  DELIVERIES,
  BACKLOG,
  DEAD,
  WORKING,
] as const;

/** What is counted. */
export interface ChangesMetrics {
  readonly poller: PollerEvents;
  readonly delivered: (webhook: string, result: (typeof DELIVERY_RESULTS)[number]) => void;
  readonly disconnected: (reason: (typeof DISCONNECTS)[number]) => void;
}

/** Registers what is counted. */
export function registerCounters(
  metrics: FeatureMetrics,
  lists: readonly FollowedList[],
  webhooks: readonly string[],
): ChangesMetrics {
  const ids = lists.map(({ operation }) => operation.id);
  const growths = lists.flatMap(({ changes }) => Object.values(changes.grows));
  const requested = metrics.counter(REQUESTS, []);
  return {
    poller: {
      requested: () => requested(),
      read: metrics.counter(READINGS, [ids, READING_OUTCOMES]),
      found: metrics.counter(EVENTS, [ids, [...new Set(['created', 'changed', ...growths])]]),
    },
    delivered: metrics.counter(DELIVERIES, [webhooks, DELIVERY_RESULTS]),
    disconnected: metrics.counter(ENDED, [DISCONNECTS]),
  };
}

/** What is read on each scrape. */
export interface GaugeSources {
  readonly poller: Pick<Poller, 'status'>;
  readonly webhooks: Pick<Webhooks, 'status'>;
  readonly subscribers: Pick<Subscribers, 'size'>;
  readonly isWorking: () => boolean;
}

/** Registers what is read on each scrape. */
export function registerGauges(metrics: FeatureMetrics, feed: GaugeSources, clock: () => number): void {
  const startedAt = clock();
  metrics.read(LAG, () => {
    const now = clock();
    if (!feed.isWorking()) return [];
    return feed.poller
      .status()
      .filter(({ isExpected }) => isExpected)
      .map(({ list, readAt = startedAt }) => [[list], Math.max(0, now - readAt) / 1000]);
  });
  metrics.read(SUBSCRIBERS, () => [[[], feed.subscribers.size]]);
  metrics.read(WORKING, () => [[[], feed.isWorking() ? 1 : 0]]);
  const ofWebhooks = (value: (one: WebhookStatus) => number | undefined) => () =>
    feed.isWorking()
      ? feed.webhooks.status().flatMap((one) => {
          const found = value(one);
          return found === undefined ? [] : [[[one.name], found] as const];
        })
      : [];
  metrics.read(
    BACKLOG,
    ofWebhooks(({ backlog }) => backlog),
  );
  metrics.read(
    DEAD,
    ofWebhooks(({ dead }) => dead.length),
  );
}

import type { Logger } from 'pino';
import type { FeatureContext } from '../../engine/feature.ts';
import { DAY_MS, type Clock } from '../../lib/clock.ts';
import { isPlainObject } from '../../lib/plain-object.ts';
import type { Sender } from './deliver.ts';
import { type FeedEvent, kindFilter, OWN_SOURCE, publicId } from './event.ts';
import type { FeedStore } from './feed-store.ts';
import type { WebhookOptions } from './options.ts';
import type { Turns } from './turns.ts';
import { webhookMessage } from './webhook-message.ts';

/** A webhook with the address and the keys that were read from files. */
export interface Webhook extends Omit<WebhookOptions, 'url'> {
  readonly url: string;
  readonly keys: readonly Buffer[];
}

/** How an attempt to deliver a message can end. `withdrawn`: it was no longer true, or no longer for the receiver. */
export const DELIVERY_RESULTS = ['delivered', 'failed', 'dead', 'withdrawn', 'lost'] as const;

type DeliveryResult = (typeof DELIVERY_RESULTS)[number];

/** A message that was given up. */
export interface DeadLetter {
  readonly number: number;
  readonly kind: string;
  readonly at: number;
  readonly reason: string;
}

/** What is known about the deliveries to a webhook. Stored as JSON. */
interface Progress {
  /** The number of the last event that was delivered, given up, or not for the receiver. */
  readonly cursor: number;
  readonly failures: number;
  /** When the next attempt may be made, in epoch milliseconds. */
  readonly nextAt: number;
  readonly dead: readonly DeadLetter[];
  /** The numbers of dead letters that an operator wants to be sent again. */
  readonly again: readonly number[];
}

/** The state of a webhook, for operators. */
export interface WebhookStatus {
  readonly name: string;
  readonly format: string;
  readonly account: string | undefined;
  /** The number of events that were not processed yet. Undefined until this gateway has looked at the webhook. */
  readonly backlog: number | undefined;
  readonly failures: number;
  readonly nextAt: number;
  readonly reason: string | undefined;
  readonly dead: readonly DeadLetter[];
}

/** Sends events to webhooks, those of each webhook in their order. */
export interface Webhooks {
  /**
   * Sends what is due to one of the webhooks. A receiver that does not respond delays only its own messages, so each
   * webhook has turns of its own. Never rejects, unless the signal is aborted.
   */
  tick(webhook: Webhook, signal: AbortSignal): Promise<void>;
  /** Reads the progress, so that `status` is up to date on every gateway. */
  refresh(): Promise<void>;
  status(): readonly WebhookStatus[];
  /** Makes the dead letters of a webhook be sent again. Returns their number, or undefined if there is no such webhook. */
  retryDead(name: string): Promise<number | undefined>;
}

/** What webhooks need. */
export interface WebhookParts extends Pick<FeatureContext<unknown>, 'mayUse'> {
  readonly webhooks: readonly Webhook[];
  readonly store: FeedStore;
  readonly lineage: () => string;
  readonly turns: Pick<Turns, 'isMine' | 'giveUp'>;
  readonly sender: Pick<Sender, 'send'>;
  readonly clock: Clock;
  readonly random: () => number;
  readonly logger: Logger;
  /** Returns whether an event of Portico's own is still true. */
  readonly isStillTrue: (event: FeedEvent) => Promise<boolean>;
  readonly onResult: (webhook: string, result: DeliveryResult) => void;
}

/** The time after which a message is given up, in milliseconds. */
const GIVE_UP_MS = DAY_MS;

/** The pauses after failed attempts, in milliseconds. Each is twice as long as the one before. */
const BACK_OFF = { firstMs: 5_000, maxMs: 3_600_000 };

/** The number of dead letters of a webhook that are remembered. */
const MAX_DEAD = 100;

/** The number of events that are read at once. */
const BATCH = 20;

const documentOf = ({ name }: Webhook) => `webhook:${name}`;

/** Creates the webhooks. What was sent is stored after each message, so after a crash, at most one is sent again. */
export function createWebhooks(parts: WebhookParts): Webhooks {
  const { store, turns, clock, random, sender, logger, onResult } = parts;
  const statuses = new Map<string, { progress: Progress; backlog: number; reason: string | undefined }>();

  const load = async (webhook: Webhook): Promise<{ progress: Progress; revision: number }> => {
    const document = await store.read(documentOf(webhook));
    const { last } = await store.range();
    const progress = parseProgress(document?.text, last);
    const known = statuses.get(webhook.name);
    statuses.set(webhook.name, { progress, backlog: last - progress.cursor, reason: known?.reason });
    return { progress, revision: document?.revision ?? 0 };
  };

  /** Stores the progress. Returns false if another gateway has stored some. */
  const save = async (webhook: Webhook, progress: Progress, revision: number): Promise<boolean> => {
    const text = JSON.stringify(progress);
    const stored = await store.commit({ document: documentOf(webhook), revision, text, events: [], at: clock() });
    if (stored) {
      const { last } = await store.range();
      const known = statuses.get(webhook.name);
      statuses.set(webhook.name, { progress, backlog: last - progress.cursor, reason: known?.reason });
    } else await turns.giveUp();
    return stored;
  };

  /** Returns whether the receiver may get an event, by the roles that are in use at this moment. */
  const isFor = (webhook: Webhook, event: FeedEvent): boolean =>
    event.source === OWN_SOURCE || (webhook.account !== undefined && parts.mayUse(webhook.account, event.source));

  /** Tries to deliver an event. Returns the progress afterwards. */
  const deliver = async (
    webhook: Webhook,
    event: FeedEvent,
    progress: Progress,
    signal: AbortSignal,
  ): Promise<Progress> => {
    const isAgain = progress.again.includes(event.number);
    const done = (dead: readonly DeadLetter[], failures = 0): Progress => ({
      ...progress,
      cursor: Math.max(progress.cursor, event.number),
      failures,
      nextAt: 0,
      dead,
      again: progress.again.filter((number) => number !== event.number),
    });
    const others = progress.dead.filter(({ number }) => number !== event.number);
    if (!isFor(webhook, event) || (event.source === OWN_SOURCE && !(await parts.isStillTrue(event)))) {
      onResult(webhook.name, 'withdrawn');
      return done(others);
    }
    const { format, keys, url, name } = webhook;
    const message = webhookMessage(event, { format, keys, lineage: parts.lineage(), now: clock() });
    const attempt = await sender.send(url, message, signal);
    const known = statuses.get(name);
    if (known !== undefined) known.reason = attempt.ok ? undefined : attempt.reason;
    if (attempt.ok) {
      onResult(name, 'delivered');
      return done(others);
    }
    const { reason, retryAfterMs = 0, isFinal } = attempt;
    if (isFinal === true || isAgain || clock() - event.at >= GIVE_UP_MS) {
      onResult(name, 'dead');
      logger.warn({ webhook: name, event: publicId(parts.lineage(), event.number), reason }, 'a message was given up');
      const letter: DeadLetter = { number: event.number, kind: event.kind, at: event.at, reason };
      // Messages that are as old are given up at once; the first younger one that fails waits as long as this one did.
      return done([...others, letter].slice(-MAX_DEAD), isAgain ? 0 : progress.failures);
    }
    onResult(name, 'failed');
    if (progress.failures === 0) logger.warn({ webhook: name, reason }, 'a webhook cannot be reached');
    const backOff = Math.min(BACK_OFF.maxMs, BACK_OFF.firstMs * 2 ** Math.min(progress.failures, 20));
    const pause = Math.min(BACK_OFF.maxMs, Math.max(backOff * (0.8 + 0.4 * random()), retryAfterMs));
    return { ...progress, failures: progress.failures + 1, nextAt: clock() + pause };
  };

  const run = async (webhook: Webhook, signal: AbortSignal): Promise<void> => {
    let { progress, revision } = await load(webhook);
    if (revision === 0) {
      // A new webhook begins with the next event.
      await save(webhook, progress, revision);
      return;
    }
    if (clock() < progress.nextAt) return;
    const wants = kindFilter(webhook.kinds);
    const { removed } = await store.range();
    if (removed > progress.cursor) {
      logger.error({ webhook: webhook.name }, 'events were removed before a webhook could receive them');
      onResult(webhook.name, 'lost');
      progress = { ...progress, cursor: removed };
    }
    const found = await Promise.all(progress.again.map(async (number) => store.after(number - 1, 1)));
    const wanted = new Set(progress.again);
    const again = found.flat().filter(({ number }) => wanted.has(number));
    const queue = [...again, ...(await store.after(progress.cursor, BATCH))];
    let skipped = false;
    // Dead letters whose events have been removed cannot be sent again.
    if (again.length < progress.again.length) {
      progress = { ...progress, again: again.map(({ number }) => number) };
      skipped = true;
    }
    for (const event of queue) {
      if (!wants(event.kind) || (!isFor(webhook, event) && !progress.again.includes(event.number))) {
        progress = { ...progress, cursor: Math.max(progress.cursor, event.number) };
        skipped = true;
        continue;
      }
      if (signal.aborted || !(await turns.isMine())) return;
      const next = await deliver(webhook, event, progress, signal);
      if (!(await save(webhook, next, revision))) return;
      revision += 1;
      skipped = false;
      const hasFailed = next.failures > progress.failures;
      progress = next;
      if (hasFailed) return;
    }
    if (skipped) await save(webhook, progress, revision);
  };

  return {
    async tick(webhook, signal) {
      try {
        if (await turns.isMine()) await run(webhook, signal);
      } catch (error) {
        signal.throwIfAborted();
        logger.error({ err: error, webhook: webhook.name }, 'a webhook cannot be served');
      }
    },
    refresh: async () => void (await Promise.all(parts.webhooks.map(load))),
    status: () =>
      parts.webhooks.map(({ name, format, account }) => {
        const { progress, backlog, reason } = statuses.get(name) ?? {};
        const { failures = 0, nextAt = 0, dead = [] } = progress ?? {};
        return { name, format, account, backlog, failures, nextAt, reason, dead };
      }),
    async retryDead(name) {
      const webhook = parts.webhooks.find((one) => one.name === name);
      if (webhook === undefined) return undefined;
      for (let tries = 0; tries < 5; tries += 1) {
        const { progress, revision } = await load(webhook);
        const again = [...new Set([...progress.again, ...progress.dead.map(({ number }) => number)])];
        const text = JSON.stringify({ ...progress, again } satisfies Progress);
        if (await store.commit({ document: documentOf(webhook), revision, text, events: [], at: clock() }))
          return again.length;
      }
      throw new Error('the progress of the webhook changes too often');
    },
  };
}

/** Reads stored progress. Without any, a webhook begins after the latest event. */
function parseProgress(text: string | undefined, last: number): Progress {
  const begin: Progress = { cursor: last, failures: 0, nextAt: 0, dead: [], again: [] };
  const stored: unknown = text === undefined || text === '' ? undefined : JSON.parse(text);
  if (!isPlainObject(stored)) return begin;
  const progress = { ...begin, ...(stored as Partial<Progress>) };
  // A store that has lost its data begins with low numbers again.
  return progress.cursor > last ? { ...progress, cursor: last } : progress;
}

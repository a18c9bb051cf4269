import type { Logger } from 'pino';
import type { Clock } from '../../lib/clock.ts';
import type { NewEvent } from './event.ts';
import type { FeedStore } from './feed-store.ts';
import type { FollowedList } from './followed-list.ts';
import {
  beginReading,
  type FoundChange,
  type ListState,
  parseState,
  type Reading,
  type ReadingOutcome,
  UNREAD,
} from './list-state.ts';
import type { PageResult } from './read-list.ts';
import type { Turns } from './turns.ts';

/** How a reading of a list can end. `conflict`: another gateway has stored a reading of the same list. */
export const READING_OUTCOMES = [
  'complete',
  'unsorted',
  'truncated',
  'invalid',
  'failed',
  'refused',
  'busy',
  'conflict',
] as const;

type Outcome = (typeof READING_OUTCOMES)[number];

/** What is counted of the readings. */
export interface PollerEvents {
  readonly requested: () => void;
  readonly read: (list: string, outcome: Outcome) => void;
  readonly found: (list: string, what: string) => void;
}

/** What the poller needs. */
export interface PollerParts {
  readonly lists: readonly FollowedList[];
  readonly store: FeedStore;
  readonly turns: Turns;
  readonly readPage: (list: FollowedList, page: number, signal: AbortSignal) => Promise<PageResult>;
  readonly everySeconds: number;
  readonly maxItems: number;
  readonly clock: Clock;
  /** Resolves after some time, or rejects once the signal is aborted. */
  readonly wait: (ms: number, signal: AbortSignal) => Promise<void>;
  readonly random: () => number;
  readonly logger: Logger;
  readonly events: PollerEvents;
}

/** The state of a list, for operators. */
export interface ListStatus {
  readonly list: string;
  /** When the list was last read completely, in epoch milliseconds. Undefined if it was not read in this process. */
  readonly readAt: number | undefined;
  readonly outcome: Outcome | undefined;
  /** Why the latest reading failed, without data from responses. */
  readonly reason: string | undefined;
  /** False if the account may not read the list, and nobody has asked for it. */
  readonly isExpected: boolean;
}

/** Reads lists, and stores what has changed. */
export interface Poller {
  /**
   * Reads one of the lists, if it is due. Lists are read side by side, so that one with many pages does not delay the
   * others. Never rejects, unless the signal is aborted.
   */
  tick(list: FollowedList, signal: AbortSignal): Promise<void>;
  status(): readonly ListStatus[];
}

interface Schedule {
  readonly list: FollowedList;
  dueAt: number;
  failures: number;
  readAt: number | undefined;
  outcome: Outcome | undefined;
  reason: string | undefined;
}

/** The first and the longest pause of a list after failures, and the longest of all lists, in milliseconds. */
const BACK_OFF = { firstMs: 5_000, maxMs: 600_000, allMs: 60_000 };

/** How often a request that was not sent, because clients need the upstream more, is tried again, and the pause before. */
const BUSY = { tries: 5, pauseMs: 1_000 };

/** Returns the name of the document with the state of a list. */
export const documentOf = ({ operation }: FollowedList): string => `list:${operation.id}`;

/** Creates the poller. */
export function createPoller(parts: PollerParts): Poller {
  const { store, turns, clock, everySeconds, logger, events, wait, random } = parts;
  const schedules: readonly Schedule[] = parts.lists.map((list) => ({
    list,
    dueAt: -Infinity,
    failures: 0,
    readAt: undefined,
    outcome: undefined,
    reason: undefined,
  }));

  /** Waits until a request may be sent, sends it, and returns the page. */
  const nextPage = async (list: FollowedList, page: number, signal: AbortSignal): Promise<PageResult | 'lost'> => {
    for (let tries = 1; ; tries += 1) {
      for (let ms = await turns.takeRequest(); ms > 0; ms = await turns.takeRequest()) {
        await wait(ms, signal);
        if (!(await turns.isMine())) return 'lost';
      }
      const result = await parts.readPage(list, page, signal);
      if (result.kind !== 'busy') {
        events.requested();
        return result;
      }
      if (tries >= BUSY.tries) return result;
      await wait(BUSY.pauseMs, signal);
    }
  };

  const commit = async (list: FollowedList, state: ListState, revision: number, changes: readonly FoundChange[]) => {
    const found = changes.filter(({ item }) => !item.hidden);
    const text = JSON.stringify(state);
    const stored = await store.commit({
      document: documentOf(list),
      revision,
      text,
      events: found.map((change) => toEvent(list, change)),
      at: clock(),
    });
    if (stored) for (const { what } of found) events.found(list.operation.id, what);
    return stored;
  };

  /** Reads a list. Nothing is stored unless all pages that were necessary could be read. */
  const readList = async (list: FollowedList, signal: AbortSignal): Promise<Ended> => {
    const document = await store.read(documentOf(list));
    const text = document?.text ?? '';
    const state = parseState(text) ?? UNREAD;
    let revision = document?.revision ?? 0;
    const reading: Reading = beginReading(state, list.changes.by !== undefined, { maxItems: parts.maxItems });
    for (let more = true; more;) {
      const result = await nextPage(list, reading.nextPage, signal);
      if (result === 'lost') return { outcome: 'conflict' };
      if (result.kind !== 'page') return endedBy(result);
      more = reading.add(result.items, result.isLast);
      const partial = more ? reading.partial() : undefined;
      if (partial === undefined) continue;
      if (!(await commit(list, partial, revision, []))) return { outcome: 'conflict' };
      revision += 1;
    }
    const { outcome, state: next, changes } = reading.finish();
    // Most readings find nothing.
    if (JSON.stringify(next) === text || (await commit(list, next, revision, changes))) return { outcome };
    return { outcome: 'conflict' };
  };

  const settle = async (schedule: Schedule, { outcome, reason, isBusy, retryAfterMs }: Ended) => {
    const { list } = schedule;
    const { id } = list.operation;
    events.read(id, outcome);
    const isRead = outcome === 'complete' || outcome === 'unsorted';
    const isNew = schedule.outcome !== outcome || schedule.reason !== reason;
    Object.assign(schedule, { outcome, reason, failures: isRead ? 0 : schedule.failures + 1 });
    if (isRead) schedule.readAt = clock();
    if (isNew) {
      const fields = { changes: { list: id, outcome, ...(reason !== undefined && { reason }) } };
      if (outcome === 'complete') logger.info(fields, 'the change feed reads a list');
      else if (!isExpected(schedule)) logger.info(fields, 'the account of the change feed may not read a list');
      else logger.warn(fields, 'the change feed has trouble with a list');
    }
    const backOff = BACK_OFF.firstMs * 2 ** Math.min(schedule.failures - 1, 20);
    const pause = schedule.failures === 0 ? 0 : Math.min(BACK_OFF.maxMs, backOff) * (0.8 + 0.4 * random());
    schedule.dueAt = clock() + Math.max(everySeconds * 1000, pause);
    // A server that is overloaded is not asked for other lists, either. One that fails for a single list is.
    if (isBusy === true) await turns.pause(Math.max(Math.min(pause, BACK_OFF.allMs), retryAfterMs ?? 0));
    if (outcome === 'conflict') await turns.giveUp();
  };

  return {
    async tick(list, signal) {
      const schedule = schedules.find((one) => one.list === list);
      if (schedule === undefined || clock() < schedule.dueAt) return;
      try {
        if (await turns.isMine()) await settle(schedule, await readList(list, signal));
      } catch (error) {
        if (signal.aborted) throw error;
        // The store cannot be reached or written.
        logger.error({ err: error }, 'the change feed cannot store what it reads');
        schedule.dueAt = clock() + BACK_OFF.firstMs;
      }
    },
    status: () =>
      schedules.map((schedule) => {
        const { list, readAt, outcome, reason } = schedule;
        return { list: list.operation.id, readAt, outcome, reason, isExpected: isExpected(schedule) };
      }),
  };
}

const isExpected = ({ list, outcome }: Schedule) => !(list.isOptional && outcome === 'refused');

interface Ended {
  readonly outcome: Outcome | ReadingOutcome;
  readonly reason?: string;
  /** True if the server should not be asked for any list now. */
  readonly isBusy?: boolean;
  readonly retryAfterMs?: number | undefined;
}

function endedBy(result: Exclude<PageResult, { kind: 'page' }>): Ended {
  if (result.kind === 'busy') return { outcome: 'busy' };
  if (result.kind === 'refused') return { outcome: 'refused', reason: `status ${result.status}` };
  if (result.kind === 'invalid') return { outcome: 'invalid', reason: result.reason };
  const { reason, isBusy, retryAfterMs } = result;
  return { outcome: 'failed', reason, isBusy, retryAfterMs };
}

function toEvent({ operation, changes }: FollowedList, { what, item }: FoundChange): NewEvent {
  const { target, title, data } = item;
  return { source: operation.id, kind: `${changes.kind}.${what}`, target, title, data: data() };
}

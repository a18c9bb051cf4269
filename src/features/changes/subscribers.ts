import type { ServerResponse } from 'node:http';
import { GatewayError } from '../../engine/errors/gateway-error.ts';
import type { TakenBy, TakenRequest } from '../../engine/http/public-handler.ts';
import type { Clock } from '../../lib/clock.ts';
import { createSingleFlight } from '../../lib/single-flight.ts';
import { eventJson, type FeedEvent, publicId } from './event.ts';
import type { FeedStore } from './feed-store.ts';

/** Why an event stream ended before the subscriber closed it. */
export const DISCONNECTS = ['slow', 'revoked', 'failed', 'closing', 'history'] as const;

type Disconnect = (typeof DISCONNECTS)[number];

/** What a subscriber wants. */
export interface Subscription {
  readonly request: TakenRequest;
  readonly response: ServerResponse;
  /** The caller when the request arrived. */
  readonly caller: TakenBy;
  readonly wants: (kind: string) => boolean;
  /** The number of the last event that the subscriber has, or of the latest one. */
  readonly from: number;
}

/** The open event streams of this gateway. */
export interface Subscribers {
  /** Returns false if there are too many, in all or of the caller. */
  mayAdd(countedAs: string): boolean;
  add(subscription: Subscription): void;
  readonly size: number;
  /** Sends new events. */
  readonly tell: () => void;
  /** Sends heartbeats, and what `tell` was not called for, and checks who is slow or must be verified again. */
  sweep(): void;
  /** Ends all streams, whose clients can connect again. */
  endAll(reason: Disconnect): void;
  /** Ends all streams, and opens no more. */
  close(): void;
}

/** What subscribers need. */
export interface SubscriberParts {
  readonly store: Pick<FeedStore, 'after' | 'range'>;
  readonly lineage: () => string;
  readonly clock: Clock;
  readonly limits: {
    readonly maxSubscribers: number;
    readonly maxSubscribersPerCaller: number;
    readonly heartbeatSeconds: number;
    readonly slowSeconds: number;
    readonly recheckSeconds: number;
  };
  readonly onEnd: (reason: Disconnect) => void;
}

/** The number of events that are read at once, and the size, in characters, after which the rest has to wait. */
const BATCH = { events: 50, characters: 262_144 };

/** How often a stream looks for events of which nobody has told it, in milliseconds. */
const LOOK_MS = 5_000;

/** Creates the list of event streams. Each keeps at most one batch of events in memory, until its client has read it. */
export function createSubscribers({ store, lineage, clock, limits, onEnd }: SubscriberParts): Subscribers {
  const open = new Set<Stream>();
  let isClosed = false;

  /** The reads in progress, which streams at the same place share. */
  const reads = createSingleFlight<readonly FeedEvent[]>();
  /** How often there was news. A read that began before the latest news might not contain it. */
  let news = 0;
  const eventsAfter = (number: number) =>
    reads.run(`${news} ${number}`, () => store.after(number, BATCH.events)).promise;

  /** Sends what is new to one subscriber. Only one such run is in progress at a time. */
  const send = async (stream: Stream): Promise<void> => {
    const { subscription } = stream;
    const { response, request, wants } = subscription;
    // While a client does not read, nothing more is written.
    while (!stream.isStalled && !stream.isEnded) {
      const events = await eventsAfter(stream.cursor);
      const [first] = events;
      if (first === undefined) return;
      if (first.number > stream.cursor + 1 && (await store.range()).removed > stream.cursor)
        return end(stream, 'history');
      // What the caller may see, and whether the caller may still see anything, is found out before each delivery.
      const caller = await authenticated(request);
      if (typeof caller === 'string') return end(stream, caller);
      stream.checkedAt = clock();
      let text = '';
      for (const event of events) {
        if (text.length >= BATCH.characters) break;
        stream.cursor = event.number;
        if (wants(event.kind) && caller.mayUse(event.source)) text += toMessage(lineage(), event);
      }
      if (text === '' || stream.isEnded) continue;
      stream.writtenAt = clock();
      if (!response.write(text)) stall(stream);
    }
  };

  const stall = (stream: Stream) => {
    stream.isStalled = true;
    stream.writtenAt = clock();
    stream.subscription.response.once('drain', () => {
      stream.isStalled = false;
      void run(stream);
    });
  };

  const run = async (stream: Stream): Promise<void> => {
    if (stream.isEnded) return;
    stream.isAsked = true;
    if (stream.isRunning) return;
    stream.isRunning = true;
    stream.lookedAt = clock();
    try {
      while (stream.isAsked && !stream.isEnded) {
        stream.isAsked = false;
        await send(stream);
      }
    } catch {
      end(stream, 'failed');
    } finally {
      stream.isRunning = false;
    }
  };

  const recheck = async (stream: Stream) => {
    stream.checkedAt = clock();
    const caller = await authenticated(stream.subscription.request);
    if (typeof caller === 'string') end(stream, caller);
  };

  const end = (stream: Stream, reason: Disconnect) => {
    if (stream.isEnded) return;
    remove(stream);
    onEnd(reason);
    const { response } = stream.subscription;
    // What a slow client has not read would stay in memory.
    if (stream.isStalled) response.destroy();
    else response.end(`event: end\ndata: ${JSON.stringify({ reason })}\n\n`);
  };

  const remove = (stream: Stream) => {
    stream.isEnded = true;
    open.delete(stream);
  };

  return {
    get size() {
      return open.size;
    },
    mayAdd(countedAs) {
      const ofCaller = [...open].filter((one) => one.subscription.caller.countedAs === countedAs).length;
      return !isClosed && open.size < limits.maxSubscribers && ofCaller < limits.maxSubscribersPerCaller;
    },
    add(subscription) {
      const now = clock();
      const stream: Stream = {
        subscription,
        cursor: subscription.from,
        isStalled: false,
        isEnded: false,
        isRunning: false,
        isAsked: false,
        writtenAt: now,
        checkedAt: now,
        lookedAt: now,
      };
      open.add(stream);
      subscription.response.once('close', () => remove(stream));
      subscription.response.write(`retry: 5000\n: the change feed\nid: ${publicId(lineage(), stream.cursor)}\n\n`);
      void run(stream);
    },
    tell() {
      news += 1;
      open.forEach((stream) => void run(stream));
    },
    sweep() {
      const now = clock();
      for (const stream of open) {
        const idleMs = now - stream.writtenAt;
        if (stream.isStalled) {
          if (idleMs >= limits.slowSeconds * 1000) end(stream, 'slow');
          continue;
        }
        if (now - stream.checkedAt >= limits.recheckSeconds * 1000) void recheck(stream);
        if (now - stream.lookedAt >= LOOK_MS) void run(stream);
        if (idleMs < limits.heartbeatSeconds * 1000) continue;
        stream.writtenAt = now;
        // The id lets the subscriber continue after events that were not for it.
        if (!stream.subscription.response.write(`: heartbeat\nid: ${publicId(lineage(), stream.cursor)}\n\n`))
          stall(stream);
      }
    },
    endAll: (reason) => open.forEach((stream) => end(stream, reason)),
    close() {
      isClosed = true;
      open.forEach((stream) => end(stream, 'closing'));
    },
  };
}

/** Returns the caller, or why the stream must end. Without a verdict on the credential, nothing may be sent. */
async function authenticated(request: TakenRequest): Promise<TakenBy | Disconnect> {
  try {
    return await request.authenticate();
  } catch (error) {
    return error instanceof GatewayError && (error.status === 401 || error.status === 403) ? 'revoked' : 'failed';
  }
}

interface Stream {
  readonly subscription: Subscription;
  /** The number of the last event that was sent or was not for the subscriber. */
  cursor: number;
  isStalled: boolean;
  isEnded: boolean;
  isRunning: boolean;
  /** True if there may be something to send that the current run has not seen. */
  isAsked: boolean;
  writtenAt: number;
  checkedAt: number;
  lookedAt: number;
}

/** Returns an event as a message of an event stream. JSON has no line breaks. */
function toMessage(lineage: string, event: FeedEvent): string {
  return `id: ${publicId(lineage, event.number)}\nevent: ${event.kind}\ndata: ${eventJson(lineage, event)}\n\n`;
}

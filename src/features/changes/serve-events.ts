import type { ServerResponse } from 'node:http';
import { GatewayError } from '../../engine/errors/gateway-error.ts';
import type { PublicMiddleware } from '../../engine/http/public-app.ts';
import type { TakenBy, TakenRequest } from '../../engine/http/public-handler.ts';
import { scopeHeaders } from '../../engine/model/principal.ts';
import { RedisUnavailable } from '../../engine/sharing/redis/connect-redis.ts';
import type { Clock } from '../../lib/clock.ts';
import { didYouMean } from '../../lib/closest-name.ts';
import { atomFeed } from './atom.ts';
import { kindFilter, publicId, readPublicId } from './event.ts';
import type { FeedStore } from './feed-store.ts';
import { type FollowedList, kindsIn } from './followed-list.ts';
import type { Subscribers } from './subscribers.ts';

/** The error for an event id before which events have been removed. */
export const HISTORY_GONE = { code: 'history_gone', status: 410, title: 'Events no longer stored' } as const;

/** The error for an event stream beyond the limits. */
export const TOO_MANY_STREAMS = { code: 'too_many_streams', status: 429, title: 'Too many event streams' } as const;

/** The error while the store cannot be reached. */
export const FEED_UNAVAILABLE = { code: 'feed_unavailable', status: 503, title: 'Change feed unavailable' } as const;

/** What the paths of the feed need. */
export interface ServeParts {
  /** The path under which the feed is served, with a slash at both ends. */
  readonly base: string;
  /** The prefix of clients' paths. Empty if there is none. */
  readonly publicBasePath: string;
  readonly lists: readonly FollowedList[];
  readonly store: FeedStore;
  /** Returns the identity of the store. Empty until it is known. */
  readonly lineage: () => string;
  readonly subscribers: Subscribers;
  readonly clock: Clock;
}

/** The number of entries in an Atom feed. */
const ATOM_ENTRIES = 50;

/** Seconds after which a client whose stream is refused may try again. */
const RETRY_SECONDS = 30;

/** Returns middleware that serves the event stream and the Atom feeds, and passes on all other requests. */
export function serveEvents(parts: ServeParts): PublicMiddleware {
  const { base } = parts;
  return (req, res, next, gateway) => {
    // This runs for each request, so most of them are recognized by their text alone.
    const request = req.url?.includes(base) === true ? gateway.take(req, res) : undefined;
    if (request?.path.startsWith(base) !== true) {
      next();
      return;
    }
    void serve(request, res, parts).catch((error: unknown) => request.refuse(toRefusal(error)));
  };
}

/** The store is the only part that can fail without a fault of Portico or the client. */
function toRefusal(error: unknown): unknown {
  if (!(error instanceof RedisUnavailable)) return error;
  return unavailable();
}

const unavailable = () =>
  new GatewayError(FEED_UNAVAILABLE, 'The change feed is not available at the moment.', {
    headers: { 'Retry-After': String(RETRY_SECONDS) },
  });

async function serve(request: TakenRequest, res: ServerResponse, parts: ServeParts): Promise<void> {
  const name = request.path.slice(parts.base.length);
  const list = parts.lists.find(({ operation }) => name === `${operation.id}.atom`);
  if (name !== 'events' && list === undefined) {
    // Only callers with a credential learn which paths exist.
    await request.authenticate();
    const known = ['events', ...parts.lists.map(({ operation }) => `${operation.id}.atom`)].join(', ');
    throw new GatewayError('not_in_contract', 'The change feed has no such path.', {
      details: [{ in: 'path', message: `the paths of the change feed are ${known}` }],
    });
  }
  if (request.method !== 'GET')
    throw new GatewayError('method_not_allowed', 'The change feed can only be read.', { headers: { Allow: 'GET' } });
  if (parts.lineage() === '') throw unavailable();
  if (list === undefined) await stream(request, res, parts);
  else await atom(request, res, list, parts);
}

async function atom(
  request: TakenRequest,
  res: ServerResponse,
  { operation }: FollowedList,
  { store, lineage: lineageOf, clock, base, publicBasePath }: ServeParts,
): Promise<void> {
  const lineage = lineageOf();
  const caller = await request.authenticate();
  if (!caller.mayUse(operation.id)) throw denied(caller, operation.id);
  const events = await store.latest(operation.id, ATOM_ENTRIES);
  const self = `${publicBasePath}${base}${operation.id}.atom`;
  const body = atomFeed({ list: operation.id, summary: operation.summary, lineage, at: clock(), self }, events);
  request.begin(200, [
    'Content-Type',
    'application/atom+xml; charset=utf-8',
    'Content-Length',
    String(Buffer.byteLength(body)),
    ...UNCACHED,
  ]);
  res.end(body);
}

async function stream(request: TakenRequest, res: ServerResponse, parts: ServeParts): Promise<void> {
  const { store, lists, subscribers } = parts;
  const lineage = parts.lineage();
  const caller = await request.authenticate();
  if (!lists.some(({ operation }) => caller.mayUse(operation.id))) throw denied(caller, 'any of the lists');
  const query = new URLSearchParams(request.query);
  const unknown = [...query.keys()].find((name) => name !== 'kinds' && name !== 'after');
  if (unknown !== undefined)
    throw new GatewayError('unknown_parameter', 'The event stream has no such parameter.', {
      details: [{ in: 'query', message: 'the parameters are kinds and after' }],
    });
  const kinds = readKinds(query, kindsIn(lists.map(({ operation }) => operation)));
  const { last, removed } = await store.range();
  // A browser sends the header when it reconnects, so the header is newer than the address.
  const sent = request.header('last-event-id') ?? query.get('after') ?? '';
  const from = sent === '' ? last : fromId(sent, lineage);
  if (from === undefined || from < removed || from > last)
    throw new GatewayError(HISTORY_GONE, 'Events after this id are no longer stored.', {
      details: [
        {
          message: `read the lists, then continue without an id; the latest event is ${publicId(lineage, last)}`,
        },
      ],
    });
  if (res.destroyed) return;
  if (!subscribers.mayAdd(caller.countedAs))
    throw new GatewayError(TOO_MANY_STREAMS, 'Too many event streams are open.', {
      headers: { 'Retry-After': String(RETRY_SECONDS) },
      details: [{ message: 'close one first, or try again later' }],
    });
  request.begin(200, ['Content-Type', 'text/event-stream; charset=utf-8', 'X-Accel-Buffering', 'no', ...UNCACHED]);
  subscribers.add({ request, response: res, caller, wants: kindFilter(kinds), from });
}

const UNCACHED = ['Cache-Control', 'private, no-store', 'X-Content-Type-Options', 'nosniff'];

/** The maximum number of kinds. */
const MAX_KINDS = 50;

/** Returns the kinds that a client wants. One that no event can have would leave the client waiting forever. */
function readKinds(query: URLSearchParams, known: readonly string[]): readonly string[] {
  const kinds = query.getAll('kinds').flatMap((value) => value.split(',', MAX_KINDS + 1));
  if (kinds.length > MAX_KINDS) throw invalid('query', 'kinds', `list at most ${MAX_KINDS} kinds`);
  const unknown = kinds.find((kind) => !known.includes(kind));
  if (unknown === undefined) return kinds;
  const list = known.filter((kind) => !kind.endsWith('*')).join(', ');
  throw invalid('query', 'kinds', `the kinds are ${list}${didYouMean(unknown, known)}`);
}

/** Returns the number in the id of an event, or undefined if the event belongs to a store that was lost. */
function fromId(text: string, lineage: string): number | undefined {
  const id = readPublicId(text);
  if (id === undefined) throw invalid('header', 'Last-Event-ID', 'send the id of an event of this stream');
  return id.lineage === lineage ? id.number : undefined;
}

const invalid = (place: string, name: string, message: string) =>
  new GatewayError('invalid_parameter', `The value of ${name} is invalid.`, {
    details: [{ in: place, name, message }],
  });

const denied = ({ principal }: TakenBy, what: string) =>
  new GatewayError('permission_denied', 'You may not read these events.', {
    details: [
      {
        message: `the roles file does not give you the permissions for ${what}; callers who are not in it have those of roles.unmapped`,
      },
    ],
    headers: scopeHeaders(principal),
  });

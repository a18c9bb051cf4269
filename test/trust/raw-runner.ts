import { connect, type Socket } from 'node:net';
import { basic } from '../builders/call.ts';
import type { FakeRequest } from '../builders/fake-upstream.ts';
import type { RawCase, RawOutcome, RawTargets } from './raw-cases.ts';

/** The gateway, the upstream and the kind of path that are used to run cases. */
export interface RawSide {
  readonly port: number;
  /** Connects to the gateway. If undefined, an ordinary connection is opened. */
  readonly dial?: (port: number) => Socket;
  readonly upstream: { readonly requests: readonly FakeRequest[] };
  /** Returns the parts of a case's expected outcome that differ on this side, if any. */
  readonly differs?: (one: RawCase) => Partial<RawOutcome> | undefined;
  /** The targets for the case with this number. No other case uses them. */
  readonly targets: (number: number) => RawTargets;
}

/** The actual outcome of sending a case's bytes, in the same form as the expected outcome. */
export interface RawResult extends RawOutcome {
  /** True if the connection ended with a reset, or was still open when the client gave up. */
  readonly broken: boolean;
  /** Everything received. */
  readonly text: string;
}

const AUTHORIZATION = `Authorization: ${basic('admin')}`;
const HOST = 'Host: x';

/** Returns the next request on the connection. If the connection can still be used, the gateway serves this request. */
const following = (id: string) =>
  `GET /services/v2/comment/${id}.json HTTP/1.1\r\n${HOST}\r\n${AUTHORIZATION}\r\nX-Case: ${id}\r\nConnection: close\r\n\r\n`;

/** Returns a write that must never be executed, because the connection is closed before the gateway reads it. */
const hidden = (id: string) =>
  `PUT /services/v2/node/${id}/cancelwiki.json HTTP/1.1\r\n${HOST}\r\n${AUTHORIZATION}\r\nX-Case: ${id}\r\nContent-Length: 0\r\n\r\n`;

// The numbers repeat so that later runs request the same targets, which the gateway may remember.
const FIRST_NUMBER = 1_000_000;
const NUMBERS = 2400;
let lastNumber = FIRST_NUMBER;

/**
 * Sends the bytes of a case on a new connection, with another request in the same packet. Returns what the client and
 * the upstream received. If the connection remains usable, the second request's response is left out.
 */
export async function runRawCase(side: RawSide, one: RawCase): Promise<RawResult> {
  const { closed } = expectedOutcome(side, one);
  lastNumber = FIRST_NUMBER + ((lastNumber - FIRST_NUMBER + 2) % NUMBERS);
  const follower = String(lastNumber + 1);
  const targets = side.targets(lastNumber);
  const next = closed ? hidden(follower) : following(follower);
  const earlier = side.upstream.requests.length;
  const { text, broken } = await sendBytes(side.port, one.bytes(targets) + next, side.dial);
  const received = side.upstream.requests.slice(earlier);
  const statuses = statusesIn(text);
  const isFrom = (id: string) => (request: FakeRequest) =>
    request.headers['x-case'] === id || request.target.includes(`/${id}`);
  const followed = received.filter(isFrom(follower)).length;
  const isKept = !closed && followed === 1 && statuses.at(-1) === 200;
  return {
    statuses: isKept ? statuses.slice(0, -1) : statuses,
    upstream: received.filter(isFrom(targets.id)).length + (isKept ? 0 : followed),
    closed: !isKept,
    broken,
    text,
  };
}

/** Returns the outcome that a case expects on a side. */
export function expectedOutcome(side: Pick<RawSide, 'differs'>, one: RawCase): RawOutcome {
  const { statuses, upstream, closed } = one;
  return { statuses, upstream, closed, ...side.differs?.(one) };
}

/** Returns the status of every response that a string contains. */
export const statusesIn = (text: string): number[] =>
  [...text.matchAll(/HTTP\/1\.1 (\d{3}) [A-Z]/g)].map(([, status]) => Number(status));

/** How long to wait before giving up. Even on a busy machine, every response arrives much sooner. */
const GIVE_UP_MS = 50_000;

/** Sends bytes on a new connection and reads from it until the server closes it. */
export function sendBytes(
  port: number,
  bytes: string,
  dial: (port: number) => Socket = (to) => connect(to, '127.0.0.1'),
): Promise<{ readonly text: string; readonly broken: boolean }> {
  return new Promise((resolve) => {
    let text = '';
    let broken = false;
    const socket = dial(port);
    socket.write(bytes, 'latin1');
    const giveUp = () => {
      broken = true;
      socket.destroy();
    };
    const timer = setTimeout(giveUp, GIVE_UP_MS);
    socket.on('data', (chunk) => (text += chunk.toString('latin1')));
    socket.on('error', () => (broken = true));
    socket.on('close', () => {
      clearTimeout(timer);
      resolve({ text, broken });
    });
  });
}

/** Calls a function for each item, with a limited number of concurrent calls. Returns the results in order. */
export async function mapInParallel<T, R>(
  items: readonly T[],
  limit: number,
  call: (item: T) => Promise<R>,
): Promise<R[]> {
  const results: R[] = [];
  const queue = items.entries();
  const work = async () => {
    for (const [index, item] of queue) results[index] = await call(item);
  };
  await Promise.all(Array.from({ length: limit }, work));
  return results;
}

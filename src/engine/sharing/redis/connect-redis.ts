import { createHash } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { createCircuit } from '../../../lib/circuit.ts';
import type { Clock } from '../../../lib/clock.ts';
import { createRedisClient, type RedisClient } from './redis-client.ts';
import type { RedisOptions, RedisSecrets } from './redis-options.ts';

/** A server's reply as RESP 2 types. Strings are buffers if bytes were requested. */
export type RedisReply = string | number | Buffer | null | RedisReply[];

/**
 * The error for a command without a usable reply. The server is unreachable, slow or failing, or it refused the
 * command. The message never contains a secret or a key.
 */
export class RedisUnavailable extends Error {}

/**
 * A Lua script. It runs atomically. All of its keys must contain the same hash tag (the part in braces), so that they
 * are on the same node in a cluster.
 */
export interface RedisScript {
  readonly source: string;
}

/** A connection to a single Redis server, to the primary reported by sentinels, or to a cluster. */
export interface Redis {
  /** Returns a key with the configured prefix. Keys with the same `group` are on the same node in a cluster. */
  key(group: string, ...parts: readonly string[]): string;
  /**
   * Sends a command whose first key is `key`. Rejects with `RedisUnavailable` if no reply arrives in time. `waitMs`
   * is added to the timeout for commands that block.
   */
  command(key: string, args: readonly (string | Buffer)[], options?: CommandOptions): Promise<RedisReply>;
  /** Runs a script with the keys and arguments. Rejects under the same conditions as `command`. */
  run(
    script: RedisScript,
    keys: readonly string[],
    args: readonly (string | Buffer)[],
    options?: CommandOptions,
  ): Promise<RedisReply>;
  /**
   * Calls the listener for each message on the channel until the connection is closed. Messages can be lost at any
   * time. While the server is unavailable, all messages are lost. Never rejects.
   */
  subscribe(channel: string, listener: (message: string) => void): Promise<void>;
  /** Returns whether commands can be sent. No commands are sent while the server is unreachable or failing. */
  isAvailable(): boolean;
  /** Opens a second connection to the same server, for commands that block. */
  duplicate(): Redis;
  close(): void;
}

interface CommandOptions {
  /** True if strings in the reply must be returned as buffers. */
  readonly bytes?: boolean;
  readonly waitMs?: number;
}

/**
 * How a command ended. `refused`: the server replied with an error. `skipped`: the command was not sent because the
 * server was unavailable.
 */
export type RedisOutcome = 'ok' | 'refused' | 'timeout' | 'failed' | 'skipped';

/** The events that a connection reports. */
interface RedisListener {
  /** Called when the server becomes available or unavailable. `reason` never contains a secret. */
  onState?: (state: { readonly available: boolean; readonly reason?: string }) => void;
  /** Called after every command, with the command's duration. */
  onCommand?: (outcome: RedisOutcome, milliseconds: number) => void;
}

/** After this many consecutive failed commands, no commands are sent for a second. */
const CIRCUIT = { failures: 3, openSeconds: 1 };
/** The time between attempts to open a connection, in milliseconds. */
const REOPEN_MS = 500;

/**
 * The errors that a server returns while it cannot serve any client. A server that returns any other error counts as
 * available.
 */
const SERVER_FAILS =
  /^(?:LOADING|MASTERDOWN|CLUSTERDOWN|TRYAGAIN|READONLY|MISCONF|NOREPLICAS|NOAUTH|WRONGPASS|BUSY|UNBLOCKED)\b/;

/**
 * Connects to Redis in the background. The function returns immediately, because a gateway can start and serve requests
 * without Redis. Until the connection is ready, every command is rejected.
 *
 * A connection that no longer works is replaced, for example when the server hangs or has become a replica, or when its
 * address no longer exists.
 */
export function connectRedis(
  options: RedisOptions,
  secrets: RedisSecrets,
  clock: Clock,
  listener: RedisListener = {},
): Redis {
  const circuit = createCircuit(CIRCUIT, clock);
  const closing = new AbortController();
  const subscriptions: { readonly channel: string; readonly heard: (message: string) => void }[] = [];
  // In a cluster, connecting to each node may take as long as connecting to a single server.
  const nodes = options.sentinel?.nodes.length ?? options.cluster?.nodes.length ?? 0;
  const openingMs = options.connectTimeoutMs * (nodes + 1);
  let client: RedisClient | undefined;
  /** The client that is being connected. Undefined if no connection is being opened. */
  let next: RedisClient | undefined;
  let isOpening = false;
  let lastReadyAt = clock();
  let available: boolean | undefined;

  const report = (isAvailable: boolean, reason?: string) => {
    if (closing.signal.aborted || available === isAvailable) return;
    available = isAvailable;
    listener.onState?.({ available, ...(reason !== undefined && { reason }) });
  };

  /** Opens a new connection. Retries until it succeeds or the connection is closed. */
  const open = async () => {
    if (isOpening) return;
    isOpening = true;
    discard(client);
    client = undefined;
    // `@redis/client` is a large package, so it is loaded only if Redis is configured.
    const library = await import('@redis/client');
    while (!closing.signal.aborted) {
      try {
        const opened = createRedisClient(library, options, secrets);
        next = opened;
        let reason: string | undefined;
        opened.onError((error) => {
          reason = reasonOf(error);
          if (!opened.isReady() && (opened === client || opened === next)) report(false, reason);
        });
        // Without a timeout, `@redis/client` would wait forever for a server that accepts connections but hangs.
        const connected = opened
          .connect()
          .then(() => Promise.all(subscriptions.map(({ channel, heard }) => opened.subscribe(channel, heard))));
        await withTimeout(connected, openingMs, () => new RedisUnavailable(reason ?? 'connection timeout'));
        client = opened;
        next = undefined;
        lastReadyAt = clock();
        report(true);
        break;
      } catch (error) {
        discard(next);
        next = undefined;
        report(false, reasonOf(error));
        await wait(REOPEN_MS, undefined, { signal: closing.signal, ref: false }).catch(() => undefined);
      }
    }
    isOpening = false;
  };
  void open();

  /** Returns the client if commands can currently be sent. */
  const ready = (): RedisClient | undefined => {
    if (client === undefined || closing.signal.aborted) return undefined;
    if (client.isReady()) {
      lastReadyAt = clock();
      return circuit.waitSeconds() > 0 ? undefined : client;
    }
    if (clock() - lastReadyAt > openingMs) void open();
    return undefined;
  };

  const attempt = async (send: (client: RedisClient) => Promise<unknown>, waitMs: number): Promise<RedisReply> => {
    const to = ready();
    if (to === undefined) {
      listener.onCommand?.('skipped', 0);
      throw new RedisUnavailable('Redis is not available');
    }
    const isTrial = circuit.state() === 'half-open';
    const end = circuit.begin();
    const startedAt = performance.now();
    const finish = (outcome: RedisOutcome) => listener.onCommand?.(outcome, performance.now() - startedAt);
    try {
      const reply = await withTimeout(send(to), options.commandTimeoutMs + waitMs, () => new NoReply());
      end('success');
      report(true);
      finish('ok');
      return reply as RedisReply;
    } catch (error) {
      if (isRefusedCommand(error)) {
        end('success');
        report(true);
        finish('refused');
      } else {
        end('failure');
        finish(error instanceof NoReply ? 'timeout' : 'failed');
        if (circuit.state() === 'open') report(false, reasonOf(error));
        if (isTrial && client === to) void open();
      }
      throw error instanceof RedisUnavailable ? error : new RedisUnavailable(reasonOf(error));
    }
  };

  return {
    key: (group, ...parts) => [`{${options.prefix}:${group}}`, ...parts].join(':'),
    command: (key, args, { bytes = false, waitMs = 0 } = {}) => attempt((to) => to.send(key, [...args], bytes), waitMs),
    run: (script, keys, args, { bytes = false, waitMs = 0 } = {}) =>
      attempt((to) => runScript(to, script, { keys, args, bytes }), waitMs),
    async subscribe(channel, heard) {
      subscriptions.push({ channel, heard });
      // If there is no client, or if its connection fails, the next client subscribes to the channel.
      await client?.subscribe(channel, heard).catch(() => undefined);
    },
    isAvailable: () =>
      client !== undefined && !closing.signal.aborted && client.isReady() && circuit.state() !== 'open',
    duplicate: () => connectRedis(options, secrets, clock),
    close() {
      closing.abort();
      discard(client);
      discard(next);
    },
  };
}

/**
 * Waits until the server can be reached, for at most `waitMs` milliseconds. Intended for programs that need Redis only
 * once.
 */
export async function untilAvailable(redis: Redis, waitMs: number): Promise<void> {
  const end = performance.now() + waitMs;
  while (!redis.isAvailable() && performance.now() < end) await wait(10);
}

/** Returns a reply, or undefined if there is none because Redis is unavailable. Rejects with any other error. */
export async function ifAvailable<T>(reply: Promise<T>): Promise<T | undefined> {
  try {
    return await reply;
  } catch (error) {
    if (error instanceof RedisUnavailable) return undefined;
    throw error;
  }
}

/** The error for a command whose reply did not arrive in time. */
class NoReply extends RedisUnavailable {
  constructor() {
    super('Redis did not reply in time');
  }
}

async function withTimeout<T>(result: Promise<T>, milliseconds: number, error: () => Error): Promise<T> {
  const { promise: timeout, reject } = Promise.withResolvers<never>();
  // A process that was busy for that long finds its timer first, and only then the reply that has arrived meanwhile.
  const timer = setTimeout(() => setImmediate(() => reject(error())), milliseconds);
  try {
    return await Promise.race([result, timeout]);
  } finally {
    clearTimeout(timer);
  }
}

/** The scripts' digests. The server uses a digest to find a script that it has already run. */
const digests = new WeakMap<RedisScript, string>();

/** Runs a script by its digest. If the server does not have the script, sends its source. */
async function runScript(
  client: RedisClient,
  script: RedisScript,
  {
    keys,
    args,
    bytes,
  }: { readonly keys: readonly string[]; readonly args: readonly (string | Buffer)[]; readonly bytes: boolean },
): Promise<unknown> {
  const digest = digests.get(script) ?? createHash('sha1').update(script.source).digest('hex');
  digests.set(script, digest);
  const [key = ''] = keys;
  const rest = [String(keys.length), ...keys, ...args];
  try {
    return await client.send(key, ['EVALSHA', digest, ...rest], bytes);
  } catch (error) {
    if (!(error instanceof Error) || !error.message.startsWith('NOSCRIPT')) throw error;
    return client.send(key, ['EVAL', script.source, ...rest], bytes);
  }
}

function discard(client: RedisClient | undefined): void {
  try {
    void Promise.resolve(client?.destroy()).catch(() => undefined);
  } catch {
    // The client has already been closed.
  }
}

/** Returns whether an error in a server's reply affects only the command itself. */
function isRefusedCommand(error: unknown): boolean {
  return error instanceof Error && /^[A-Z]{2,20} /.test(error.message) && !SERVER_FAILS.test(error.message);
}

/** Returns a reason that does not quote the server's message, which may contain a password or a key. */
function reasonOf(error: unknown): string {
  if (error instanceof RedisUnavailable) return error.message;
  const { code, message = '' } = error as { code?: unknown; message?: string };
  if (typeof code === 'string' && /^[A-Z_]{2,40}$/.test(code)) return code;
  // The first word of a Redis error message is the error's kind, such as NOAUTH, OOM or READONLY.
  return /^(?:[A-Z]{2,20})\b/.exec(message)?.[0] ?? 'connection failed';
}

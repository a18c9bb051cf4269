import { readFileSync } from 'node:fs';
import type * as RedisLibrary from '@redis/client';
import { readSecretFile } from '../files/secret-file.ts';
import { createCircuit } from '../lib/circuit.ts';
import type { Clock } from '../lib/clock.ts';
import type { RedisOptions } from './redis-options.ts';

/** The secrets of a connection, read from their files. */
export interface RedisSecrets {
  readonly url: string | undefined;
  readonly password: string | undefined;
}

/** Reads the secrets of a connection, or returns the reasons why they cannot be read. */
export function readRedisSecrets(
  options: RedisOptions,
): { readonly secrets: RedisSecrets } | { readonly key: 'urlFile' | 'passwordFile'; readonly fault: string } {
  const read = { url: options.url, password: options.password };
  for (const [key, name] of [
    ['urlFile', 'url'],
    ['passwordFile', 'password'],
  ] as const) {
    const path = options[key];
    if (path === undefined) continue;
    const reading = readSecretFile(path);
    if ('fault' in reading) return { key, fault: reading.fault };
    read[name] = reading.text;
  }
  return { secrets: read };
}

/** A reply of the server, in the types of RESP 2. Strings are buffers if bytes were requested. */
export type RedisReply = string | number | Buffer | null | RedisReply[];

/** The error of a command that got no reply, because the server is unreachable, slow or failing. */
export class RedisUnavailable extends Error {}

/** A Lua script, which runs atomically. All its keys must contain the same text in braces. */
export interface RedisScript {
  readonly source: string;
}

/** A connection to a Redis server, to the primary behind sentinels, or to a cluster. */
export interface Redis {
  /** Returns a key with the configured prefix. Keys with the same `group` are on the same node of a cluster. */
  key(group: string, ...parts: readonly string[]): string;
  /**
   * Sends a command whose first key is `key`. Rejects with `RedisUnavailable` if there is no reply in time. `waitMs` is
   * added to the timeout, for commands that block.
   */
  command(key: string, args: readonly (string | Buffer)[], options?: CommandOptions): Promise<RedisReply>;
  /** Runs a script with the keys and arguments. Rejects like `command`. */
  run(script: RedisScript, keys: readonly string[], args: readonly (string | Buffer)[]): Promise<RedisReply>;
  /** Calls the listener for each message of the channel until the connection is closed. Messages can be lost. */
  subscribe(channel: string, listener: (message: string) => void): Promise<void>;
  /** Returns whether commands are sent at the moment. They are not while the server is unreachable or failing. */
  isAvailable(): boolean;
  /** Opens a second connection to the same server, for commands that block. */
  duplicate(): Redis;
  close(): void;
}

interface CommandOptions {
  /** Whether strings in the reply are buffers. */
  readonly bytes?: boolean;
  readonly waitMs?: number;
}

/** What a connection reports. */
interface RedisListener {
  /** Called when the server becomes available or unavailable. `reason` never contains a secret. */
  onState?: (state: { readonly available: boolean; readonly reason?: string }) => void;
  /** Called after every command with its duration. */
  onCommand?: (outcome: 'ok' | 'failed', milliseconds: number) => void;
}

/** The common part of the three clients of the library. */
interface Client {
  send(key: string, args: (string | Buffer)[], bytes: boolean): Promise<unknown>;
  subscribe(channel: string, listener: (message: string) => void): Promise<unknown>;
  connect(): Promise<unknown>;
  destroy(): unknown;
  isReady(): boolean;
  onError(listener: (error: Error) => void): void;
  onReady(listener: () => void): void;
}

/** The number of failed commands in a row after which no commands are sent for a second. */
const CIRCUIT = { failures: 3, openSeconds: 1 };
const MAX_QUEUED_COMMANDS = 10_000;
const RECONNECT_MS = { first: 50, longest: 2_000 };

/**
 * Connects to Redis in the background. The function returns at once, because a gateway starts and serves requests
 * without Redis too; until the connection is ready, every command is rejected.
 */
export function connectRedis(
  options: RedisOptions,
  secrets: RedisSecrets,
  clock: Clock,
  listener: RedisListener = {},
): Redis {
  let client: Client | undefined;
  const circuit = createCircuit(CIRCUIT, clock);
  let available = false;
  let closed = false;
  const report = (next: boolean, reason?: string) => {
    if (closed || available === next) return;
    available = next;
    listener.onState?.({ available: next, ...(reason !== undefined && { reason }) });
  };
  const connect = async () => {
    // The library is large, so it is loaded only if Redis is configured.
    const created = createLibraryClient(await import('@redis/client'), options, secrets);
    if (closed) return;
    client = created;
    client.onError((error) => report(false, reasonOf(error)));
    client.onReady(() => report(true));
    // The library reconnects by itself.
    await client.connect();
    report(true);
  };
  const connected = connect().catch((error: unknown) => report(false, reasonOf(error)));
  const isReady = () => !closed && client?.isReady() === true;

  const attempt = async (send: (client: Client) => Promise<unknown>, waitMs: number): Promise<RedisReply> => {
    if (client === undefined || !isReady() || circuit.waitSeconds() > 0)
      throw new RedisUnavailable('Redis is not available');
    const end = circuit.begin();
    const startedAt = performance.now();
    let timer: NodeJS.Timeout | undefined;
    const timeout = new Promise<never>((_resolve, reject) => {
      timer = setTimeout(
        () => reject(new RedisUnavailable('Redis did not reply in time')),
        options.commandTimeoutMs + waitMs,
      );
    });
    try {
      const reply = (await Promise.race([send(client), timeout])) as RedisReply;
      end('success');
      report(true);
      listener.onCommand?.('ok', performance.now() - startedAt);
      return reply;
    } catch (error) {
      end('failure');
      if (circuit.state() === 'open') report(false, reasonOf(error));
      listener.onCommand?.('failed', performance.now() - startedAt);
      throw error instanceof RedisUnavailable ? error : new RedisUnavailable(reasonOf(error));
    } finally {
      clearTimeout(timer);
    }
  };

  return {
    key: (group, ...parts) => [`{${options.prefix}:${group}}`, ...parts].join(':'),
    command: (key, args, { bytes = false, waitMs = 0 } = {}) => attempt((to) => to.send(key, [...args], bytes), waitMs),
    run: ({ source }, keys, args) =>
      attempt((to) => to.send(keys[0] ?? '', ['EVAL', source, String(keys.length), ...keys, ...args], false), 0),
    async subscribe(channel, heard) {
      await connected;
      await client?.subscribe(channel, heard);
    },
    isAvailable: () => isReady() && circuit.state() !== 'open',
    duplicate: () => connectRedis(options, secrets, clock),
    close() {
      closed = true;
      void client?.destroy();
    },
  };
}

function createLibraryClient(
  { createClient, createCluster, createSentinel, RESP_TYPES }: typeof RedisLibrary,
  options: RedisOptions,
  { url, password }: RedisSecrets,
): Client {
  const { sentinel, cluster, username, connectTimeoutMs } = options;
  const common = {
    RESP: 2,
    socket: {
      connectTimeout: connectTimeoutMs,
      reconnectStrategy: (retries: number) =>
        Math.min(RECONNECT_MS.first * 2 ** Math.min(retries, 10), RECONNECT_MS.longest),
      ...tlsOf(options),
    },
    // Otherwise, commands would wait for the next connection, and the request with them.
    disableOfflineQueue: true,
    commandsQueueMaxLength: MAX_QUEUED_COMMANDS,
    ...(username !== undefined && { username }),
    ...(password !== undefined && { password }),
  } as const;
  const bytesOf = (bytes: boolean) => (bytes ? { typeMapping: { [RESP_TYPES.BLOB_STRING]: Buffer } } : undefined);
  if (sentinel !== undefined) {
    const client = createSentinel({
      name: sentinel.name,
      RESP: 2,
      sentinelRootNodes: sentinel.nodes.map(hostAndPort),
      nodeClientOptions: common,
      masterPoolSize: 2,
    });
    return {
      send: (_key, args, bytes) => client.sendCommand(false, args, bytesOf(bytes)),
      subscribe: (channel, listener) => client.subscribe(channel, listener),
      connect: () => client.connect(),
      destroy: () => client.destroy(),
      isReady: () => client.isReady,
      onError: (listener) => void client.on('error', listener),
      onReady: (listener) => void client.on('topology-change', listener),
    };
  }
  if (cluster !== undefined) {
    const client = createCluster({
      RESP: 2,
      rootNodes: cluster.nodes.map((node) => ({ socket: hostAndPort(node) })),
      defaults: common,
    });
    let ready = false;
    return {
      send: (key, args, bytes) => client.sendCommand(key, false, args, bytesOf(bytes)),
      subscribe: (channel, listener) => client.subscribe(channel, listener),
      connect: async () => {
        await client.connect();
        ready = true;
      },
      destroy: () => client.destroy(),
      isReady: () => ready,
      onError: (listener) => void client.on('error', listener),
      onReady: (listener) => void client.on('ready', listener),
    };
  }
  const client = createClient({ ...common, ...(url !== undefined && { url }) });
  return {
    send: (_key, args, bytes) => client.sendCommand(args, bytesOf(bytes)),
    subscribe: (channel, listener) => client.subscribe(channel, listener),
    connect: () => client.connect(),
    destroy: () => client.destroy(),
    isReady: () => client.isReady,
    onError: (listener) => void client.on('error', listener),
    onReady: (listener) => void client.on('ready', listener),
  };
}

function hostAndPort(node: string): { readonly host: string; readonly port: number } {
  const { hostname, port } = new URL(`redis://${node}`);
  return { host: hostname.replaceAll(/[[\]]/g, ''), port: Number(port) };
}

function tlsOf({ tls }: RedisOptions) {
  if (tls === undefined) return {};
  const { caFile, certFile, keyFile, serverName } = tls;
  return {
    tls: true,
    ...(caFile !== undefined && { ca: readFileSync(caFile) }),
    ...(certFile !== undefined && { cert: readFileSync(certFile) }),
    ...(keyFile !== undefined && { key: readFileSync(keyFile) }),
    ...(serverName !== undefined && { servername: serverName }),
  };
}

/** Returns a reason without the server's words, which may repeat a password or a key. */
function reasonOf(error: unknown): string {
  if (error instanceof RedisUnavailable) return error.message;
  const { code, message = '' } = error as { code?: unknown; message?: string };
  if (typeof code === 'string' && /^[A-Z_]{2,40}$/.test(code)) return code;
  // The first word of a server's error is its kind, such as NOAUTH, OOM or READONLY.
  return /^(?:[A-Z]{2,20})\b/.exec(message)?.[0] ?? 'connection failed';
}

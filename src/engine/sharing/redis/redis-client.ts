import { isIP } from 'node:net';
import type * as RedisLibrary from '@redis/client';
import type { RedisOptions, RedisSecrets } from './redis-options.ts';

/** The interface shared by the `@redis/client` clients for a single server, for sentinels and for clusters. */
export interface RedisClient {
  /** Sends a command whose first key is `key`. If `bytes` is true, strings in the reply are returned as buffers. */
  send(key: string, args: (string | Buffer)[], bytes: boolean): Promise<unknown>;
  subscribe(channel: string, listener: (message: string) => void): Promise<unknown>;
  /** Resolves when commands can be sent. From then on, broken connections are restored automatically. */
  connect(): Promise<unknown>;
  /** Closes all connections immediately and rejects all commands that have not received a reply. */
  destroy(): unknown;
  isReady(): boolean;
  onError(listener: (error: Error) => void): void;
}

/** The maximum number of commands that can wait for a reply on one connection. Additional commands fail immediately. */
const MAX_QUEUED_COMMANDS = 10_000;
/**
 * Turns off the timeout in `@redis/client`, which creates a timer for each command but covers only commands that have
 * not been sent yet.
 */
const NO_TIMEOUT = { timeout: 0 };
const RECONNECT_MS = { first: 50, longest: 2_000 };

/** Creates a client that is not connected yet. */
export function createRedisClient(
  { RedisClient: Client, createCluster, createSentinel, RESP_TYPES }: typeof RedisLibrary,
  options: RedisOptions,
  secrets: RedisSecrets,
): RedisClient {
  const { sentinel, cluster, username, connectTimeoutMs } = options;
  const { url, password, sentinelPassword } = secrets;
  const socket = {
    connectTimeout: connectTimeoutMs,
    reconnectStrategy: (retries: number) =>
      Math.min(RECONNECT_MS.first * 2 ** Math.min(retries, 10), RECONNECT_MS.longest),
    ...tlsOf(options, secrets),
  };
  const common = {
    RESP: 2,
    socket,
    // With an offline queue, commands would wait for the next connection, as would the requests that need their
    // results.
    disableOfflineQueue: true,
    commandsQueueMaxLength: MAX_QUEUED_COMMANDS,
    commandOptions: NO_TIMEOUT,
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
      sentinelClientOptions: {
        socket,
        ...(sentinel.username !== undefined && { username: sentinel.username }),
        ...(sentinelPassword !== undefined && { password: sentinelPassword }),
      },
      commandOptions: NO_TIMEOUT,
    });
    return {
      send: (_key, args, bytes) => client.sendCommand(false, args, bytesOf(bytes)),
      subscribe: (channel, listener) => client.subscribe(channel, listener),
      connect: () => client.connect(),
      destroy: () => client.destroy(),
      isReady: () => client.isReady,
      onError: (listener) => void client.on('error', listener),
    };
  }
  if (cluster !== undefined) {
    const client = createCluster({
      RESP: 2,
      rootNodes: cluster.nodes.map((node) => ({ socket: hostAndPort(node) })),
      defaults: common,
      commandOptions: NO_TIMEOUT,
    });
    let isConnected = false;
    return {
      send: (key, args, bytes) => client.sendCommand(key, false, args, bytesOf(bytes)),
      subscribe: (channel, listener) => client.subscribe(channel, listener),
      connect: async () => {
        await client.connect();
        isConnected = true;
      },
      destroy: () => client.destroy(),
      // In a cluster, some nodes may be unreachable while others are available.
      isReady: () => isConnected,
      onError: (listener) => void client.on('error', listener),
    };
  }
  // The library makes a class with all commands for each configuration of commands. Portico needs only one. The options
  // of each client would be part of its configuration otherwise.
  const create = Client.factory({ RESP: 2 });
  const client = create({ ...common, ...(url !== undefined && { url, socket: withServerName(socket, url) }) });
  // In RESP 2, a connection with a subscription accepts no other commands.
  let subscriber: ReturnType<typeof client.duplicate> | undefined;
  return {
    send: (_key, args, bytes) => client.sendCommand(args, bytesOf(bytes)),
    async subscribe(channel, listener) {
      if (subscriber === undefined) {
        subscriber = client.duplicate();
        // An error is not reported here, because the other connection already reports that the server is unavailable.
        subscriber.on('error', () => undefined);
        await subscriber.connect();
      }
      await subscriber.subscribe(channel, listener);
    },
    async connect() {
      await client.connect();
      // Without this `PING`, a server that requires a password would seem to be available.
      await client.sendCommand(['PING']);
    },
    destroy() {
      if (subscriber?.isOpen === true) subscriber.destroy();
      client.destroy();
    },
    isReady: () => client.isReady,
    onError: (listener) => void client.on('error', listener),
  };
}

function hostAndPort(node: string): { readonly host: string; readonly port: number } {
  const { hostname, port } = new URL(`redis://${node}`);
  return { host: hostname.replaceAll(/[[\]]/g, ''), port: Number(port) };
}

function tlsOf({ tls }: RedisOptions, secrets: RedisSecrets) {
  if (tls === undefined) return {};
  return {
    tls: true as const,
    ...secrets.tls,
    ...(tls.serverName !== undefined && { servername: tls.serverName }),
  };
}

/** Adds the host of a `rediss:` URL as the TLS server name, because Node does not send it by default (RFC 6066 §3). */
function withServerName<S extends object>(socket: S, url: string): S {
  const { protocol, hostname } = new URL(url);
  const isName = protocol === 'rediss:' && isIP(hostname.replaceAll(/[[\]]/g, '')) === 0;
  return isName ? { servername: hostname, ...socket } : { ...socket };
}

import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { rawRequest } from '../../../bench/raw-request.ts';
import { grouped, pause, type ProofResult } from '../proof.ts';
import { CALLERS, pageAsk } from './callers.ts';
import { runLoad } from './load-client.ts';
import { faultsOf, megabytes, untilSockets } from './soak.ts';
import { withScene } from './processes.ts';

const MAX_BYTES_EACH = 32 * 1024;
/** With fewer connections, other changes in memory usage would hide what each connection uses. */
const LEAST_FOR_MEMORY = 2000;
const BATCH = 200;
/** On a busy machine, a connection may seem to close early by up to this many milliseconds. */
const EARLY_MS = 1000;
/** The maximum time that connections may stay open is `factor` times `keepAliveSeconds`, plus `seconds`. */
const LATE = { factor: 2, seconds: 30 };

/** The number of open files that are used for other purposes. */
const RESERVED_FILES = 500;

/** The options for the scenario. */
export interface IdleOptions {
  readonly connections: number;
  readonly keepAliveSeconds: number;
  tick(text: string): void;
}

/**
 * Opens many connections, sends one request on each and leaves them idle. Portico must keep serving other clients and
 * close the connections after `keepAliveSeconds`.
 */
export function holdIdleConnections(options: IdleOptions, inScene = withScene): Promise<ProofResult> {
  const { keepAliveSeconds, tick } = options;
  const connections = Math.min(options.connections, maxConnections());
  return inScene(async ({ startGateway }) => {
    const gateway = await startGateway({ listen: { keepAliveSeconds } });
    const faults: string[] = [];
    const ask = pageAsk(CALLERS[0] ?? '', 'idle');
    const others = { connections: 4, port: () => gateway.port, next: () => ask, perSecond: 500 };
    const isMeasured = connections >= LEAST_FOR_MEMORY;
    if (isMeasured) {
      // The first requests make the process allocate memory that is unrelated to idle connections.
      await runLoad(others, 1);
      await pause(500);
    }
    const before = { rss: gateway.rssBytes(), sockets: gateway.sockets() };

    const idle: Socket[] = [];
    let refused = 0;
    let closed = 0;
    let early = 0;
    let lastClosedAt = 0;
    const hold = ({ socket, sentAt }: Idle) => {
      idle.push(socket);
      socket.once('close', () => {
        closed += 1;
        lastClosedAt = performance.now();
        // If a connection closes too early, a load balancer may already have sent the next request on it.
        if (lastClosedAt - sentAt < keepAliveSeconds * 1000 - EARLY_MS) early += 1;
      });
    };
    for (let opened = 0; opened < connections; opened += BATCH) {
      const batch = Array.from({ length: Math.min(BATCH, connections - opened) }, () =>
        openIdle(gateway.port, ask.message).then(hold, () => void (refused += 1)),
      );
      await Promise.all(batch);
      tick(`${grouped(idle.length)} of ${grouped(connections)} connections`);
    }
    if (refused > 0) faults.push(`${refused} connections could not be opened or got no response`);
    const idleSince = performance.now();
    const held = gateway.sockets() - before.sockets;
    const each = (gateway.rssBytes() - before.rss) / Math.max(1, idle.length);
    if (isMeasured && each > MAX_BYTES_EACH) faults.push(`each idle connection takes ${grouped(each)} bytes`);
    const busy = await runLoad(others, Math.min(2, keepAliveSeconds / 4));
    faults.push(...faultsOf(busy));
    for (const path of ['/livez', '/readyz', '/metrics'])
      if ((await rawRequest(gateway.adminPort, path)).status !== 200) faults.push(`${path} does not return 200`);
    const giveUpAt = idleSince + (keepAliveSeconds * LATE.factor + LATE.seconds) * 1000;
    while (closed < idle.length && performance.now() < giveUpAt) {
      tick(`${grouped(closed)} of ${grouped(idle.length)} closed`);
      await pause(200);
    }
    if (closed < idle.length) faults.push(`${idle.length - closed} idle connections were not closed`);
    if (early > 0) faults.push(`${early} connections were closed early`);
    for (const socket of idle) socket.destroy();
    const left = (await untilSockets(gateway, before.sockets + 2)) - before.sockets;
    if (left > 2) faults.push(`${left} sockets are open after the connections were closed`);
    return {
      cases: connections,
      faults,
      figures: [
        `${grouped(held)} connections held, ${grouped(each)} bytes each`,
        ...(connections < options.connections ? ['more are impossible because of ulimit -n'] : []),
        `RSS ${megabytes(before.rss)} before`,
        `${[...busy.statuses].map(([status, count]) => `${grouped(count)} × ${status}`).join(', ')} for other clients`,
        `${closed === idle.length ? 'all' : grouped(closed)} closed ${((lastClosedAt - idleSince) / 1000).toFixed(0)} s after the last request (keepAliveSeconds ${keepAliveSeconds})`,
      ].join('; '),
    };
  });
}

/** Returns the number of connections that the limit on open files allows in this process and in the gateway. */
function maxConnections(): number {
  const [, soft = ''] = /^Max open files +(\d+|unlimited)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? [];
  return soft === 'unlimited' ? Infinity : Math.max(1, Number(soft) - RESERVED_FILES);
}

/**
 * An idle connection, and the time at which its request was sent. A busy machine can delay the response, but not the
 * request.
 */
interface Idle {
  readonly socket: Socket;
  readonly sentAt: number;
}

/** Opens a connection, sends one request, and resolves after the response. */
async function openIdle(port: number, message: string): Promise<Idle> {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true });
  await once(socket, 'connect');
  const sentAt = performance.now();
  socket.write(message, 'latin1');
  await once(socket, 'data');
  // Discards the rest of the response and detects the end of the connection.
  socket.resume();
  socket.on('error', () => undefined);
  return { socket, sentAt };
}

import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';

/** The lowest port to consider. Well-known services use lower ports. */
const FIRST = 10_000;
/** The lowest port in the usual range of ephemeral ports. */
const USUAL_END = 32_768;

/**
 * Returns a loopback port on which no program listens. Use it for a program that must be told its port, or for a port
 * that must stay unused. No other call, in this process or in another, returns the same port before this process ends.
 * The port is outside the range from which the system chooses ports for connections and for listeners on port 0.
 * Therefore, no program takes the port by chance before it is used or while a server restarts on it.
 */
export async function freePort(): Promise<number> {
  const count = endOfRange() - FIRST;
  const from = Math.floor(Math.random() * count);
  for (let step = 0; step < count; step += 1) {
    const port = FIRST + ((from + step) % count);
    if (await reserve(port)) return port;
  }
  throw new Error(`no port between ${FIRST} and ${FIRST + count} is free`);
}

/** Returns whether a program accepts connections on a loopback port. */
export function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
}

/** Returns the first port in the range from which the system chooses ports. */
function endOfRange(): number {
  try {
    const [first = 0] = readFileSync('/proc/sys/net/ipv4/ip_local_port_range', 'utf8').split(/\s+/).map(Number);
    return first > FIRST ? Math.min(first, USUAL_END) : USUAL_END;
  } catch {
    return USUAL_END;
  }
}

/**
 * Reserves a port unless it is in use or already reserved. The reservation is a UDP socket with the same number. It
 * does not affect TCP, and is closed when the process ends.
 */
async function reserve(port: number): Promise<boolean> {
  const reservation = createSocket('udp4').unref();
  const isReserved = await new Promise<boolean>((resolve) => {
    reservation.once('error', () => resolve(false));
    reservation.bind({ port, address: '127.0.0.1', exclusive: true }, () => resolve(true));
  });
  if (isReserved && (await isUnused(port))) return true;
  reservation.close();
  return false;
}

/** Returns whether a port is unused on all IPv4 addresses. */
async function isUnused(port: number): Promise<boolean> {
  const server = createServer();
  const isOpen = await new Promise<boolean>((resolve) => {
    server.once('error', () => resolve(false));
    server.listen(port, '0.0.0.0', () => resolve(true));
  });
  if (!isOpen) return false;
  const closed = once(server, 'close');
  server.close();
  await closed;
  return true;
}

import { connect, type Socket } from 'node:net';
import { createResponseCounter } from './response-counter.ts';
import { type LatencySummary, summarize } from './latency-summary.ts';

/** Options for sending requests at a fixed rate, whether or not earlier requests have completed. */
export interface PacedLoad {
  readonly port: number;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly connections: number;
  readonly perSecond: number;
  readonly warmSeconds: number;
  readonly seconds: number;
}

/**
 * Latencies in milliseconds. Each latency is measured from the time at which the request was due, so it includes any
 * wait for a connection.
 */
export interface PacedResult extends LatencySummary {
  readonly requests: number;
  readonly perSecond: number;
}

interface Connection {
  readonly socket: Socket;
  dueAt: number;
}

/** Runs the load. Rejects on any status other than 200 and on any broken connection. */
async function runPaced(load: PacedLoad): Promise<PacedResult> {
  const { port, path, headers, connections, perSecond, warmSeconds, seconds } = load;
  const lines = Object.entries({ Host: `127.0.0.1:${port}`, ...headers }).map(([name, value]) => `${name}: ${value}`);
  const request = Buffer.from(`GET ${path} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`);
  const total = Math.floor(perSecond * (warmSeconds + seconds));
  const warm = Math.floor(perSecond * warmSeconds);
  const latencies = new Float64Array(total);
  const spacing = 1000 / perSecond;
  const idle: Connection[] = [];
  const waiting: number[] = [];
  let waitingFrom = 0;
  let completed = 0;
  let failure: Error | undefined;
  const fail = (error: Error) => void (failure ??= error);

  const send = (connection: Connection, dueAt: number) => {
    connection.dueAt = dueAt;
    connection.socket.write(request);
  };
  const opened = Array.from({ length: connections }, () => {
    return new Promise<void>((resolve) => {
      const count = createResponseCounter((status) => {
        if (status !== 200) fail(new Error(`status ${status}`));
        latencies[completed] = performance.now() - connection.dueAt;
        completed += 1;
        const due = waiting[waitingFrom];
        if (due === undefined) {
          idle.push(connection);
        } else {
          waitingFrom += 1;
          send(connection, due);
        }
      });
      const onread = {
        buffer: Buffer.alloc(65_536),
        callback: (length: number, buffer: Uint8Array) => {
          count(buffer as Buffer, length);
          return true;
        },
      };
      const socket = connect({ port, host: '127.0.0.1', noDelay: true, onread }, resolve);
      socket.on('error', fail);
      socket.on('end', () => fail(new Error('the server closed a connection')));
      const connection: Connection = { socket, dueAt: 0 };
      idle.push(connection);
    });
  });
  await Promise.all(opened);

  const startedAt = performance.now();
  const giveUpAt = startedAt + (warmSeconds + seconds) * 1000 + 10_000;
  let sent = 0;
  // Timers have a resolution of one millisecond, so requests would be sent in bursts. A busy loop avoids that.
  // oxlint-disable-next-line no-unmodified-loop-condition -- the sockets change it
  while (completed < total) {
    if (failure !== undefined) throw failure;
    const now = performance.now();
    if (now > giveUpAt) throw new Error(`${total - completed} requests had not completed ten seconds after the end`);
    while (sent < total && startedAt + sent * spacing <= now) {
      const dueAt = startedAt + sent * spacing;
      sent += 1;
      const connection = idle.pop();
      if (connection === undefined) waiting.push(dueAt);
      else send(connection, dueAt);
    }
    await new Promise((resolve) => setImmediate(resolve));
  }
  const measured = latencies.slice(warm);
  return { requests: measured.length, perSecond, ...summarize(measured) };
}

const result = await runPaced(JSON.parse(process.argv[2] ?? '{}') as PacedLoad);
process.stdout.write(JSON.stringify(result));
process.exit(0);

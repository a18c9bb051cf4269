import { connect, type Socket } from 'node:net';
import { createAnswerCounter } from './answer-counter.ts';
import { type LatencySummary, summarise } from './latency-summary.ts';

/** Requests at a fixed rate, whether or not the earlier ones are answered. */
export interface PacedLoad {
  readonly port: number;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly connections: number;
  readonly perSecond: number;
  readonly warmSeconds: number;
  readonly seconds: number;
}

/** Latencies in milliseconds from the instant at which a request was due, waiting for a connection included. */
export interface PacedResult extends LatencySummary {
  readonly requests: number;
  readonly perSecond: number;
}

interface Connection {
  readonly socket: Socket;
  dueAt: number;
}

/** Runs the load; rejects on any status but 200 and on any broken connection. */
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
  let answered = 0;
  let failure: Error | undefined;
  const fail = (error: Error) => void (failure ??= error);

  const send = (connection: Connection, dueAt: number) => {
    connection.dueAt = dueAt;
    connection.socket.write(request);
  };
  const opened = Array.from({ length: connections }, () => {
    return new Promise<void>((resolve) => {
      const count = createAnswerCounter((status) => {
        if (status !== 200) fail(new Error(`status ${status}`));
        latencies[answered] = performance.now() - connection.dueAt;
        answered += 1;
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
  let asked = 0;
  // A timer of milliseconds would send in bursts; turning the event loop round and round does not.
  // oxlint-disable-next-line no-unmodified-loop-condition -- the sockets change it
  while (answered < total) {
    if (failure !== undefined) throw failure;
    const now = performance.now();
    if (now > giveUpAt) throw new Error(`${total - answered} requests were not answered ten seconds after the end`);
    while (asked < total && startedAt + asked * spacing <= now) {
      const dueAt = startedAt + asked * spacing;
      asked += 1;
      const connection = idle.pop();
      if (connection === undefined) waiting.push(dueAt);
      else send(connection, dueAt);
    }
    await new Promise((resolve) => setImmediate(resolve));
  }
  const measured = latencies.slice(warm);
  return { requests: measured.length, perSecond, ...summarise(measured) };
}

const result = await runPaced(JSON.parse(process.argv[2] ?? '{}') as PacedLoad);
process.stdout.write(JSON.stringify(result));
process.exit(0);

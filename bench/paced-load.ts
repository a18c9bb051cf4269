import { Pool } from 'undici';

/** Blocks of requests at a fixed rate, whether or not earlier ones have been answered. */
export interface PacedLoad {
  /** The servers. Each gets the same requests in each block; who is first alternates. */
  readonly ports: readonly number[];
  /** The beginning of the path. A key that occurs once follows, and how long the upstream takes; see `slow-upstream.ts`. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly connections: number;
  readonly perSecond: number;
  readonly blocks: number;
  readonly blockSeconds: number;
  /** How long the upstream takes: a log-normal distribution. */
  readonly delay: { readonly medianMs: number; readonly sigma: number; readonly atMostMs: number };
}

/** The latencies in milliseconds, for each server and block. Each counts from when its request was due. */
export type PacedLatencies = readonly (readonly (readonly number[])[])[];

/** The blocks before those that count. */
const WARM_BLOCKS = 3;

async function latenciesOf(load: PacedLoad): Promise<PacedLatencies> {
  const { ports, perSecond, blocks, blockSeconds } = load;
  const servers = ports.map((port, at) => ({ at, send: createSender(port, load), found: [] as number[][] }));
  for (let block = -WARM_BLOCKS; block < blocks; block += 1) {
    const delays = Array.from({ length: Math.round(perSecond * blockSeconds) }, () => drawDelay(load.delay));
    for (const { send, found } of block % 2 === 0 ? servers : servers.toReversed()) {
      const latencies = await sendAll(send, delays, perSecond);
      if (block >= 0) found.push(latencies);
    }
  }
  return servers.map(({ found }) => found);
}

type Send = (delayMs: number, dueAt: number) => Promise<number>;

function createSender(port: number, { path, headers, connections }: PacedLoad): Send {
  const pool = new Pool(`http://127.0.0.1:${port}`, { connections });
  return async (delayMs, dueAt) => {
    key += 1;
    const { statusCode, body } = await pool.request({ method: 'GET', path: `${path}k${key}w${delayMs}`, headers });
    await body.arrayBuffer();
    if (statusCode !== 200) throw new Error(`status ${statusCode}`);
    return performance.now() - dueAt;
  };
}
let key = 0;

async function sendAll(send: Send, delays: readonly number[], perSecond: number): Promise<number[]> {
  const startedAt = performance.now();
  const sent: Promise<number>[] = [];
  while (sent.length < delays.length) {
    await new Promise((resolve) => setTimeout(resolve, 1));
    const due = Math.min(delays.length, Math.floor(((performance.now() - startedAt) / 1000) * perSecond));
    while (sent.length < due) sent.push(send(delays[sent.length] ?? 0, startedAt + (sent.length / perSecond) * 1000));
  }
  return Promise.all(sent);
}

function drawDelay({ medianMs, sigma, atMostMs }: PacedLoad['delay']): number {
  const normal = Math.sqrt(-2 * Math.log(1 - Math.random())) * Math.cos(2 * Math.PI * Math.random());
  return Math.min(atMostMs, Math.round(medianMs * Math.exp(sigma * normal)));
}

// Runs as a process of its own, so that it can have a core of its own.
process.stdout.write(JSON.stringify(await latenciesOf(JSON.parse(process.argv[2] ?? '') as PacedLoad)), () =>
  process.exit(0),
);

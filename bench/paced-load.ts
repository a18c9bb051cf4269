import { Pool } from 'undici';
import { percentileOf } from '../tools/prove/load/statistics.ts';

/** Requests at a fixed rate, whether or not earlier ones have been answered. */
export interface PacedLoad {
  readonly port: number;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly connections: number;
  readonly perSecond: number;
  readonly seconds: number;
}

/** Returns the 99th percentile of the latencies in milliseconds. Each counts from when its request was due. */
async function p99Of({ port, path, headers, connections, perSecond, seconds }: PacedLoad): Promise<number> {
  const pool = new Pool(`http://127.0.0.1:${port}`, { connections });
  const total = Math.floor(perSecond * seconds);
  const startedAt = performance.now();
  const sent: Promise<number>[] = [];
  const send = async (dueAt: number) => {
    const { statusCode, body } = await pool.request({ method: 'GET', path, headers });
    await body.arrayBuffer();
    if (statusCode !== 200) throw new Error(`status ${statusCode}`);
    return performance.now() - dueAt;
  };
  while (sent.length < total) {
    await new Promise((resolve) => setTimeout(resolve, 1));
    const due = Math.min(total, Math.floor(((performance.now() - startedAt) / 1000) * perSecond));
    while (sent.length < due) sent.push(send(startedAt + (sent.length / perSecond) * 1000));
  }
  const latencies = await Promise.all(sent);
  await pool.close();
  return percentileOf(Float64Array.from(latencies).sort(), 0.99);
}

// Runs as a process of its own, so that it can have a core of its own.
process.stdout.write(String(await p99Of(JSON.parse(process.argv[2] ?? '') as PacedLoad)));

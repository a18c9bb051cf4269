import { askEachKey } from './closed-load.ts';
import { freePort } from './free-port.ts';
import { portico } from './peers/portico.ts';
import { formatNumber } from './format-number.ts';
import type { RunContext } from './run-scenario.ts';
import { ASKED, keyed } from './scenarios/asked.ts';
import { slopeOf } from './slope.ts';

/** The cache budget of the run in bytes. */
export const MEMORY_BUDGET = 64 * 1024 * 1024;

/** Resident memory while distinct keys are asked for, each once. */
export interface MemoryResult {
  readonly keys: number;
  readonly budgetBytes: number;
  readonly restBytes: number;
  readonly peakBytes: number;
  readonly endBytes: number;
  /** How resident memory changes over the last half of the run, in bytes per million keys. */
  readonly lastHalfSlope: number;
  readonly samples: readonly { readonly keys: number; readonly rssBytes: number }[];
}

/** Asks for distinct keys of 2 kB pages with distinct bodies; samples fifty times, at least every 20,000 keys. */
export async function measureMemory(keys: number, context: RunContext): Promise<MemoryResult> {
  const { upstream, folder, progress } = context;
  const step = Math.min(20_000, Math.ceil(keys / 50));
  const peer = portico({ label: 'memory', responses: 'enforce', cache: true, maxBytes: MEMORY_BUDGET });
  const started = await peer.start({ upstreamPort: upstream.portOf('2k', 'stamped'), port: await freePort(), folder });
  const { running, port } = started;
  progress.say(`Memory: ${formatNumber(keys, 0)} distinct keys`);
  try {
    await new Promise((resolve) => setTimeout(resolve, 2000));
    const restBytes = running.rssBytes();
    const samples: { keys: number; rssBytes: number }[] = [];
    const { path, headers } = keyed(ASKED, keys);
    for (let from = 0; from < keys; from += step) {
      const to = Math.min(keys, from + step);
      await askEachKey({ port, path, headers, connections: 32, from, to });
      const rssBytes = running.rssBytes();
      samples.push({ keys: to, rssBytes });
      running.emptyOutput();
      progress.tick(`memory: ${formatNumber(to, 0)} keys, ${formatNumber(rssBytes / 1e6, 0)} MB`);
    }
    return {
      keys,
      budgetBytes: MEMORY_BUDGET,
      restBytes,
      peakBytes: Math.max(...samples.map((sample) => sample.rssBytes)),
      endBytes: samples.at(-1)?.rssBytes ?? 0,
      lastHalfSlope:
        slopeOf(samples.filter((sample) => sample.keys > keys / 2).map((one) => [one.keys, one.rssBytes])) * 1e6,
      samples,
    };
  } finally {
    await running.stop();
  }
}

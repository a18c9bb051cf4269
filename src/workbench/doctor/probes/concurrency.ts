import { countWords } from '../../../lib/count-words.ts';
import { UPSTREAM_DEFAULTS } from '../../../engine/upstream/upstream-options.ts';
import { type DoctorFinding, type Probe, type ProbeContext, readableList } from '../probe.ts';
import type { Recommendation } from '../recommend.ts';

interface Level {
  readonly concurrency: number;
  readonly median: number;
  readonly slowest: number;
  readonly perSecond: number;
  /** The first sign that the server is overloaded, or undefined if there is none. */
  readonly distress: string | undefined;
}

/**
 * A request indicates overload if it takes `factor` times as long as a single request and at least `ms` milliseconds
 * longer.
 */
const SLOWER = { factor: 4, ms: 250 };
/** Each time the concurrency is doubled, the throughput must increase by at least this factor. */
const GAIN = 1.1;
const MIN_REQUESTS = 6;
/** Up to this concurrency, the probe ignores the throughput, because one slow request could distort it. */
const ALWAYS_TRIED = 8;

const levels = (max: number): number[] => {
  const doubled = Array.from({ length: 8 }, (_, power) => 2 ** power).filter((level) => level < max);
  return [...doubled, max];
};
const requestsAt = (level: number) => Math.max(MIN_REQUESTS, 2 * level);

/** Determines how many concurrent requests the server can handle. Stops at the first sign of overload. */
export const concurrencyProbe: Probe = {
  name: 'concurrency',
  does: 'requests a list with 1, 2, 4, … concurrent requests, and stops as soon as the server slows down or fails',
  requests: (max) => levels(max).reduce((sum, level) => sum + requestsAt(level), 0),
  run: async (context) => {
    const done: Level[] = [];
    for (const concurrency of levels(context.maxConcurrency)) {
      const level = await runLevel(context, concurrency, done[0]);
      done.push(level);
      const previous = done.at(-2);
      // If more concurrency does not increase the throughput, additional requests would only add load.
      const isSaturated = previous !== undefined && level.perSecond < previous.perSecond * GAIN;
      if (level.distress !== undefined || (isSaturated && concurrency >= ALWAYS_TRIED)) break;
    }
    return result(done, context.maxConcurrency);
  },
};

async function runLevel(context: ProbeContext, concurrency: number, alone: Level | undefined): Promise<Level> {
  const { operation, response } = readableList(context);
  const agent = context.client.keepAlive(concurrency);
  const times: number[] = [];
  let distress: string | undefined;
  let left = requestsAt(concurrency);
  const worker = async () => {
    while (left > 0 && distress === undefined) {
      left -= 1;
      const sent = await context.client.send({ path: operation.path, agent });
      times.push(sent.ms);
      if (sent.kind === 'failure') distress ??= `a request failed (${sent.facts.code ?? sent.facts.cause})`;
      else if (sent.status !== response.status) distress ??= `a request got ${sent.status}`;
    }
  };
  const startedAt = performance.now();
  await Promise.all(Array.from({ length: concurrency }, worker)).finally(() => agent.destroy());
  const seconds = (performance.now() - startedAt) / 1000;
  const sorted = times.toSorted((one, other) => one - other);
  const median = sorted[sorted.length >> 1] ?? 0;
  const bound = alone === undefined ? Infinity : Math.max(alone.median * SLOWER.factor, alone.median + SLOWER.ms);
  if (median > bound)
    distress ??= `requests take ${Math.round(median)} ms instead of ${Math.round(alone?.median ?? 0)}`;
  return { concurrency, median, slowest: sorted.at(-1) ?? 0, perSecond: times.length / seconds, distress };
}

function result(done: readonly Level[], max: number) {
  const good = done.filter(({ distress }) => distress === undefined);
  const best = good.at(-1);
  const stressed = done.find(({ distress }) => distress !== undefined);
  const slowest = Math.max(...done.map((level) => level.slowest));
  return {
    facts: done.map(
      ({ concurrency, median, perSecond, distress }) =>
        `${concurrency} at a time: ${Math.round(median)} ms, ${perSecond.toFixed(0)} a second${distress === undefined ? '' : `; ${distress}`}.`,
    ),
    findings: stressed === undefined ? [] : [distressed(stressed)],
    recommendations: [...concurrencyOf(best, stressed, max), ...timeoutsOf(slowest)],
  };
}

const distressed = ({ concurrency, distress }: Level): DoctorFinding =>
  concurrency === 1
    ? {
        severity: 'high',
        text: `Even one at a time, ${distress}.`,
        advice:
          'None of Portico’s limits helps here. Look at the log of the server, and run the doctor again afterwards.',
      }
    : {
        severity: concurrency <= 4 ? 'high' : 'medium',
        text: `With ${concurrency} concurrent requests, ${distress}.`,
        advice: 'Limit what reaches the server (upstream.concurrency); the queue and the cache handle the rest.',
      };

function concurrencyOf(best: Level | undefined, stressed: Level | undefined, max: number): readonly Recommendation[] {
  // If requests fail even when sent one at a time, limiting concurrency does not help.
  if (best === undefined) return [];
  const { concurrency } = best;
  const why =
    stressed !== undefined
      ? `The server can handle ${countWords(concurrency, 'concurrent request')}; with ${stressed.concurrency}, ${stressed.distress}.`
      : concurrency < max
        ? `More than ${concurrency} concurrent requests bring no more throughput.`
        : `The server can handle ${countWords(concurrency, 'concurrent request')}; no more were tried (--concurrency-max).`;
  return [{ key: 'upstream.concurrency', value: concurrency, reason: why }];
}

/** Recommends longer timeouts if response times approach the default timeouts. */
function timeoutsOf(slowest: number): readonly Recommendation[] {
  if (slowest < UPSTREAM_DEFAULTS.headersTimeoutMs / 3) return [];
  const ms = Math.min(50_000, Math.ceil((slowest * 4) / 1000) * 1000);
  const reason = `The slowest response took ${Math.round(slowest)} ms.`;
  return [
    { key: 'upstream.headersTimeoutMs', value: ms, reason },
    { key: 'upstream.totalTimeoutMs', value: Math.max(UPSTREAM_DEFAULTS.totalTimeoutMs, ms + 5000), reason },
  ];
}

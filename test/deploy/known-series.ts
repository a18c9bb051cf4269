import { FEATURES } from '../../src/features.ts';
import { startTestGateway } from '../builders/test-gateway.ts';
import { promqlUse } from './promql-use.ts';

/**
 * Metric names with their labels, and the possible values of each label. `undefined` means that any value is
 * possible.
 */
export type KnownSeries = ReadonlyMap<string, ReadonlyMap<string, ReadonlySet<string> | undefined>>;

const SAMPLE = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? \S+$/;
const PAIR = /(\w+)="((?:[^"\\]|\\.)*)"/g;
/** The labels whose values differ between processes. */
const ANY_VALUE = new Set(['version', 'contract', 'node', 'release', 'address', 'fingerprint', 'drift']);
/** The labels and metrics that Prometheus itself adds to every scrape. */
const ADDED = ['job', 'instance'];
const SCRAPES = ['up', 'scrape_duration_seconds'];

/** Returns every series in a real gateway's scrape, as Prometheus stores it. */
export async function seriesOfGateway(): Promise<KnownSeries> {
  // Some series exist only if the upstream has several addresses, or if Redis is configured.
  const gateway = await startTestGateway({
    upstream: 'http://127.0.0.1:9',
    real: true,
    keepAccounts: true,
    config: {
      mode: 'strict',
      authentication: { verifier: 'file' },
      upstream: { alternates: ['http://127.0.0.1:10'] },
      redis: { url: 'redis://127.0.0.1:9' },
      rateLimits: [{ name: 'all', requests: 1_000, windowSeconds: 60 }],
    },
  });
  const { text } = await gateway.admin('/metrics');
  await gateway.close();
  const known = new Map<string, Map<string, Set<string> | undefined>>();
  const labelsOf = (name: string) => {
    const labels = known.get(name) ?? new Map(ADDED.map((label) => [label, undefined]));
    known.set(name, labels);
    return labels;
  };
  for (const line of text.split('\n')) {
    const [, name, pairs = ''] = SAMPLE.exec(line) ?? [];
    if (name === undefined) continue;
    const labels = labelsOf(name);
    for (const [, label = '', value = ''] of pairs.matchAll(PAIR))
      labels.set(label, ANY_VALUE.has(label) ? undefined : (labels.get(label) ?? new Set()).add(value));
  }
  // The metrics of features that the configuration above does not use.
  for (const { name, type, labels } of FEATURES.flatMap(({ metrics = [] }) => metrics))
    for (const suffix of type === 'histogram' ? ['_bucket', '_sum', '_count'] : ['']) {
      if (known.has(name + suffix)) continue;
      const own = labelsOf(name + suffix);
      for (const label of suffix === '_bucket' ? [...labels, 'le'] : labels) own.set(label, undefined);
    }
  for (const name of SCRAPES) labelsOf(name);
  return known;
}

/** Adds the recording rules' series to the known series. Their labels are those that the rules preserve. */
export function withRecorded(
  known: KnownSeries,
  rules: readonly { readonly record: string; readonly expr: string }[],
): KnownSeries {
  const recorded = rules.map(({ record, expr }) => {
    const labels = promqlUse(expr).labels.filter((label) => label !== 'le');
    return [record, new Map(labels.map((label) => [label, undefined]))] as const;
  });
  return new Map([...known, ...recorded]);
}

/** Describes the metrics, labels and label values in a query that neither the scrape nor a recording rule defines. */
export function strangeNames(query: string, known: KnownSeries): string[] {
  const { metrics, labels } = promqlUse(query);
  const carried = new Set(metrics.flatMap(({ name }) => [...(known.get(name)?.keys() ?? [])]));
  return [
    ...metrics.filter(({ name }) => !known.has(name)).map(({ name }) => `no metric ${name}`),
    ...labels.filter((label) => !carried.has(label)).map((label) => `no label ${label}`),
    ...metrics.flatMap(({ name, matchers }) =>
      matchers.flatMap(({ label, value, isPattern }) => {
        const carriedBy = known.get(name);
        if (carriedBy === undefined) return [];
        if (!carriedBy.has(label)) return [`no label ${label} on ${name}`];
        const values = carriedBy.get(label);
        if (values === undefined || value.startsWith('$')) return [];
        return (isPattern ? value.split('|') : [value])
          .filter((one) => !values.has(one))
          .map((one) => `no ${label} ${one} on ${name}`);
      }),
    ),
  ];
}

import { startTestGateway } from '../builders/test-gateway.ts';
import { promqlUse } from './promql-use.ts';

/** Metric names with their labels, and the possible values of each label; `undefined` if any value is possible. */
export type KnownSeries = ReadonlyMap<string, ReadonlyMap<string, ReadonlySet<string> | undefined>>;

const SAMPLE = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? \S+$/;
const PAIR = /(\w+)="((?:[^"\\]|\\.)*)"/g;
/** The labels that differ from one process to the next. */
const ANY_VALUE = new Set(['version', 'contract', 'node']);
/** The metrics that Prometheus itself adds to every scrape. */
const ADDED = ['job', 'instance'];
const SCRAPES = ['up', 'scrape_duration_seconds'];

/** Every series of a real gateway's scrape, as Prometheus stores them. */
export async function seriesOfGateway(): Promise<KnownSeries> {
  const gateway = await startTestGateway({ upstream: 'http://127.0.0.1:9' });
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
  for (const name of SCRAPES) labelsOf(name);
  return known;
}

/** The same with the series of recording rules: such a series has the labels that its rule keeps. */
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

/** A description of everything in a query that no scrape and no rule provides. */
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

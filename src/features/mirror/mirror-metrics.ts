import type { FeatureMetrics } from '../../engine/telemetry/metric-registry.ts';
import type { MetricEntry } from '../../engine/telemetry/metric-list.ts';
import type { MetricRow } from '../../engine/telemetry/stored-metric.ts';
import { LATENCY_BOUNDS, type MirrorCounts, OUTCOMES } from './mirror-counts.ts';
import { type OwnerOf, type Readiness, readinessOf } from './readiness.ts';

const ONLY = 'The metric exists only with mirror.share or mirror.floor.';

const EXCHANGES = {
  name: 'portico_mirror_exchanges_total',
  type: 'counter',
  labels: ['operation', 'outcome'],
  help: `GET exchanges with the upstream, by what the comparison with the second server has shown: equal, different, muted, notComparable or notMade. ${ONLY}`,
} as const;

const LEFT_OUT = {
  name: 'portico_mirror_left_out_total',
  type: 'counter',
  labels: ['reason'],
  help: `GET exchanges with the upstream that were not compared with the second server, by reason. ${ONLY}`,
} as const;

const ACCEPTED = {
  name: 'portico_mirror_accepted_total',
  type: 'counter',
  labels: ['operation'],
  help: `Exchanges that are different, but only in ways that the baseline accepts. ${ONLY}`,
} as const;

const RACES = {
  name: 'portico_mirror_races_total',
  type: 'counter',
  labels: ['operation'],
  help: `Exchanges whose difference vanished when both servers were asked again. ${ONLY}`,
} as const;

const SECONDS = {
  name: 'portico_mirror_response_seconds',
  type: 'histogram',
  labels: ['operation', 'server'],
  help: `Response times of the compared exchanges, for the upstream (old) and the second server (new). ${ONLY}`,
} as const;

const AT_MOST = {
  name: 'portico_mirror_difference_share_bound',
  type: 'gauge',
  labels: ['operation'],
  help: `Upper bound (95%) of the share of exchanges that would differ on the second server in ways that are not accepted. ${ONLY}`,
} as const;

const CALLERS_AT_MOST = {
  name: 'portico_mirror_callers_noticing_bound',
  type: 'gauge',
  labels: ['operation'],
  help: `Upper bound (95%) of the share of callers who would notice a difference that is not accepted on the second server. ${ONLY}`,
} as const;

const WAITING = {
  name: 'portico_mirror_waiting',
  type: 'gauge',
  labels: [],
  help: 'Exchanges that wait to be sent to the second server.',
} as const;

const PAUSED = {
  name: 'portico_mirror_paused',
  type: 'gauge',
  labels: [],
  help: '1 while nothing is mirrored because the second server fails.',
} as const;

/** The metrics of the mirror. */
export const METRICS: readonly MetricEntry[] = [
  EXCHANGES,
  LEFT_OUT,
  ACCEPTED,
  RACES,
  SECONDS,
  AT_MOST,
  CALLERS_AT_MOST,
  WAITING,
  PAUSED,
];

/** What the metrics show. */
interface MetricSources {
  readonly counts: MirrorCounts;
  readonly ownerOf: OwnerOf;
  /** The ids of the operations that can be mirrored. */
  readonly mirrored: ReadonlySet<string>;
  readonly isPaused: () => boolean;
  readonly waiting: () => number;
}

/** Registers the metrics of a mirror. */
export function registerMetrics(metrics: FeatureMetrics, parts: MetricSources): void {
  const { counts, ownerOf, mirrored, isPaused, waiting } = parts;
  let found: ReadonlyMap<string, Readiness> | undefined;
  /** A scrape reads all metrics in one turn, and what they show is found only once. */
  const rows = () => {
    if (found === undefined) setImmediate(() => (found = undefined));
    return (found ??= new Map(readinessOf(counts.own(), ownerOf).map((row) => [row.operation, row])));
  };
  const ofEach =
    (valuesOf: (row: Readiness) => readonly (readonly [label: string | undefined, value: MetricRow[1]])[]) => () => {
      const known = rows();
      return [...mirrored].flatMap((operation) => {
        const row = known.get(operation);
        return (row === undefined ? [] : valuesOf(row)).map(([label, value]): MetricRow => [
          label === undefined ? [operation] : [operation, label],
          value,
        ]);
      });
    };
  metrics.read(
    EXCHANGES,
    ofEach((row) => OUTCOMES.map((outcome) => [outcome, row[outcome]] as const)),
  );
  metrics.read(LEFT_OUT, () => {
    const all = [...rows().values()].flatMap(({ because }) => Object.entries(because));
    const counted = Map.groupBy(all, ([reason]) => reason);
    return Array.from(counted, ([reason, of]): MetricRow => [[reason], of.reduce((sum, [, count]) => sum + count, 0)]);
  });
  metrics.read(
    ACCEPTED,
    ofEach(({ accepted }) => [[undefined, accepted]]),
  );
  metrics.read(
    RACES,
    ofEach(({ races }) => [[undefined, races]]),
  );
  metrics.read(
    SECONDS,
    ofEach(({ latency }) => [
      ['old', { bounds: LATENCY_BOUNDS, ...latency.old }],
      ['new', { bounds: LATENCY_BOUNDS, ...latency.new }],
    ]),
  );
  metrics.read(
    AT_MOST,
    ofEach(({ atMost }) => [[undefined, atMost]]),
  );
  metrics.read(
    CALLERS_AT_MOST,
    ofEach(({ callersAtMost }) => [[undefined, callersAtMost]]),
  );
  metrics.read(WAITING, () => [[[], waiting()]]);
  metrics.read(PAUSED, () => [[[], isPaused() ? 1 : 0]]);
}

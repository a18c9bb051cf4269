import type { MetricEntry } from '../../engine/telemetry/metric-list.ts';

const ONLY = 'The metric exists only with cutover.';

export const EXCHANGES = {
  name: 'portico_cutover_exchanges_total',
  type: 'counter',
  labels: ['side', 'outcome'],
  help: `Exchanges with the old and the new server, by outcome: ok, failed, violated or refused. ${ONLY}`,
} as const satisfies MetricEntry;

export const SECONDS = {
  name: 'portico_cutover_response_seconds_total',
  type: 'counter',
  labels: ['side'],
  help: `Response times of the old and the new server, added up. ${ONLY}`,
} as const satisfies MetricEntry;

export const SHARE = {
  name: 'portico_cutover_share',
  type: 'gauge',
  labels: ['operation'],
  help: `The share of the callers (0 to 1) whom the new server serves, for each operation that takes part. ${ONLY}`,
} as const satisfies MetricEntry;

export const PHASE = {
  name: 'portico_cutover_phase',
  type: 'gauge',
  labels: ['phase'],
  help: `1 for the phase of the cut-over: running, frozen or returned. ${ONLY}`,
} as const satisfies MetricEntry;

export const EXCEEDED = {
  name: 'portico_cutover_exceeded_total',
  type: 'counter',
  labels: ['limit'],
  help: `How often this gateway found that the new server exceeds a limit of cutover.return. ${ONLY}`,
} as const satisfies MetricEntry;

export const STAYING = {
  name: 'portico_cutover_staying_callers',
  type: 'gauge',
  labels: [],
  help: 'Callers who stay with a server because it has got a write of theirs.',
} as const satisfies MetricEntry;

export const CIRCUIT = {
  name: 'portico_cutover_circuit_open',
  type: 'gauge',
  labels: [],
  help: '1 while requests to the new server are paused because it keeps failing.',
} as const satisfies MetricEntry;

/** The metrics of the cut-over. */
export const METRICS: readonly MetricEntry[] = [EXCHANGES, SECONDS, SHARE, PHASE, EXCEEDED, STAYING, CIRCUIT];

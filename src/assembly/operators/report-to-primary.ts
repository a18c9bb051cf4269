import type { InventoryQuery } from '../../cache/page-inventory.ts';
import type { Readiness } from '../../http/admin-app.ts';
import type { WorkerRole } from '../sharing/process-role.ts';
import type { OperatorView, ViewParts } from './operator-view.ts';
import type { RedisReport, WorkerReport } from './worker-report.ts';

/** The interval between reports, in milliseconds. */
const REPORT_MS = 1_000;

/** Sends reports to the primary process and handles its calls. Returns a function that sends the final report. */
export function reportToPrimary(
  { primary, handlers }: WorkerRole,
  { metrics, view, shared }: Pick<ViewParts, 'metrics' | 'shared'> & { readonly view: OperatorView },
  readiness: () => Readiness,
): () => Promise<void> {
  const report = (): WorkerReport => ({
    increase: metrics.takeIncrease(),
    sources: metrics.readNumbers(),
    redis: redisReport(shared),
    upstream: view.upstream(),
    health: view.upstreamHealth(),
    history: view.upstreamHistory(),
    readiness: readiness(),
  });
  handlers['report'] = report;
  handlers['inventory'] = (query: InventoryQuery) => view.inventory(query);
  handlers['processMetrics'] = () => metrics.processMetrics();
  const send = async () => void (await primary.call('report', report()).catch(() => undefined));
  const timer = setInterval(() => void send(), REPORT_MS).unref();
  return () => {
    clearInterval(timer);
    return send();
  };
}

function redisReport(shared: ViewParts['shared']): RedisReport | undefined {
  const sources = shared?.metrics.sources();
  if (sources === undefined) return undefined;
  const { isAvailable, unsyncedSeconds, sharedPages } = sources;
  return { available: isAvailable(), unsyncedSeconds: unsyncedSeconds(), sharedPages: { ...sharedPages() } };
}

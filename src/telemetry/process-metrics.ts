import { collectDefaultMetrics, Registry } from 'prom-client';

// Their `type` label takes whatever names Node has for open things: not a fixed set. The sums of them are gauges with the name
// of a counter, which promtool finds fault with and a rate over them would be wrong.
const LEFT_OUT = ['handles', 'requests', 'resources'].flatMap((thing) => [
  `nodejs_active_${thing}`,
  `nodejs_active_${thing}_total`,
]);

let shared: Registry | undefined;

/** The metrics of the process itself (CPU, memory, event loop, collector), once per process because their observers are never given back. */
export function processMetrics(): Registry {
  if (shared === undefined) {
    shared = new Registry();
    collectDefaultMetrics({ register: shared });
    for (const name of LEFT_OUT) shared.removeSingleMetric(name);
  }
  return shared;
}

import { collectDefaultMetrics, Registry } from 'prom-client';

// Their `type` label takes whatever names Node has for open things: not a fixed set.
const UNBOUNDED = ['nodejs_active_handles', 'nodejs_active_requests', 'nodejs_active_resources'];

let shared: Registry | undefined;

/** The metrics of the process itself (CPU, memory, event loop, collector), once per process because their observers are never given back. */
export function processMetrics(): Registry {
  if (shared === undefined) {
    shared = new Registry();
    collectDefaultMetrics({ register: shared });
    for (const name of UNBOUNDED) shared.removeSingleMetric(name);
  }
  return shared;
}

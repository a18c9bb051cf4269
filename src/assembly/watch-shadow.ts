import type { Settings } from '../config/settings.ts';
import type { Ledger } from '../ledger/record/create-ledger.ts';
import { type ShadowContract, createShadowContract } from '../pipeline/shadow-contract.ts';
import type { CheckBody } from '../pipeline/stages/validate-body.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import type { Start } from './load-start.ts';

/** Creates the check of traffic against the shadow contract; returns undefined if none is configured. */
export function assembleShadow(
  settings: Settings,
  { contract, shadow }: Start,
  { metrics, ledger }: { readonly metrics: Metrics; readonly ledger: Ledger },
): ShadowContract | undefined {
  if (shadow === undefined) return undefined;
  const watch = createShadowContract({
    live: contract,
    shadow,
    checksFor: settings.checksFor,
    maxCollected: settings.contract.maxCollected,
    later: (work) => void setImmediate(work).unref(),
    found: (trace, request) => {
      metrics.record(trace);
      // The exchange has been counted with its request. Here, the status is only for the fingerprint.
      trace.upstream = request.upstream;
      ledger.record(trace);
    },
  });
  metrics.watch({ candidateDropped: watch.dropped });
  return watch;
}

/** Wraps a body check so that the shadow contract sees parsed request bodies first. */
export function withShadowBodies(check: CheckBody, watch: ShadowContract | undefined): CheckBody {
  if (watch === undefined) return check;
  return (planned, body, exchange) => {
    watch.body(exchange.trace, body, Buffer.isBuffer(exchange.body) ? exchange.body.length : 0);
    return check(planned, body, exchange);
  };
}

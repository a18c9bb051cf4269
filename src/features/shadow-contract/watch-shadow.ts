import type { Settings } from '../../engine/config/settings.ts';
import type { Ledger } from '../ledger/record/create-ledger.ts';
import { type ShadowContract, createShadowContract } from './shadow-contract.ts';
import type { PlanBodyCheck } from '../../engine/pipeline/request-rules.ts';
import type { Metrics } from '../../engine/telemetry/metrics.ts';
import type { Start } from '../../engine/assembly/load-start.ts';

/** Creates the service that checks traffic against the shadow contract, or returns undefined if none is configured. */
export function assembleShadow(
  settings: Settings,
  { contract, shadow }: Start,
  { metrics, ledger }: { readonly metrics: Metrics; readonly ledger: Ledger },
): ShadowContract | undefined {
  if (shadow === undefined) return undefined;
  return createShadowContract({
    live: contract,
    shadow,
    checksFor: settings.checksFor,
    maxCollected: settings.contract.maxCollected,
    later: (work) => void setImmediate(work).unref(),
    found: (trace) => {
      metrics.record(trace);
      ledger.record(trace);
    },
  });
}

/** Wraps the body checks so that each parsed request body is passed to the shadow contract before the check runs. */
export function withShadowBodies(planCheck: PlanBodyCheck, watch: ShadowContract | undefined): PlanBodyCheck {
  if (watch === undefined) return planCheck;
  return (planned) => {
    const { check, identifies } = planCheck(planned);
    return {
      identifies,
      check(body, exchange) {
        watch.body(exchange.trace, body, Buffer.isBuffer(exchange.body) ? exchange.body.length : 0);
        return check(body, exchange);
      },
    };
  };
}

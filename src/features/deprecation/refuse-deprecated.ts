import type { ErrorKind } from '../../engine/errors/catalogue.ts';
import { type ErrorDetail, GatewayError } from '../../engine/errors/gateway-error.ts';
import type { Arrival } from '../../engine/model/arrival.ts';
import type { FeatureStage } from '../../engine/pipeline/stage.ts';
import { PLANNED_REFUSAL } from '../../engine/telemetry/request-metrics.ts';
import { type DeprecatedEntries, type Ending, endingAt, isoOf, type IsRevoked } from './deprecated-entries.ts';
import type { Requested } from './requested-parts.ts';

/** The error of a request during a brown-out. It ends, so clients may try again. */
export const BROWNOUT: ErrorKind = { code: 'deprecated_brownout', status: 503, title: 'Paused before its end' };

/** The error of a request for something that no longer exists. */
export const GONE: ErrorKind = { code: 'gone', status: 410, title: 'No longer available' };

interface RefusalParts {
  readonly entries: DeprecatedEntries;
  readonly isRevoked: IsRevoked;
  /** Returns what a request asks for. */
  readonly requestedBy: (operation: string, arrival: Pick<Arrival, 'query'>) => Requested;
}

/**
 * Refuses requests for something deprecated during its brown-outs and after its end. It decides only by the time of the
 * request and has no effect, so `portico explain` runs it as it is.
 */
export function refuseDeprecated({ entries, isRevoked, requestedBy }: RefusalParts): FeatureStage {
  return {
    name: 'refuse-deprecated',
    before: 'authorize',
    plan({ operation: { id }, transparent }) {
      if (transparent || !entries.mayRefuse(id)) return undefined;
      return (next) => (exchange) => {
        const { arrival, trace } = exchange;
        const found = entries.of(id, requestedBy(id, arrival).parameters).filter(({ dryRun }) => !dryRun);
        const ending = endingAt(found, trace.startedAt, isRevoked);
        if (ending === undefined) return next(exchange);
        PLANNED_REFUSAL.set(trace, true);
        throw refusal(ending, trace.startedAt);
      };
    },
  };
}

function refusal(ending: Ending, now: number): GatewayError {
  const { parameter, successor, note } = ending.entry;
  const subject = parameter === undefined ? 'This operation' : `The parameter ${parameter} of this operation`;
  const instead = successor === undefined ? '' : ` Use ${successor} instead.`;
  const detail: ErrorDetail = {
    ...(parameter !== undefined && { in: 'query', name: parameter }),
    ...(note !== undefined && { message: note }),
    ...(successor !== undefined && { suggestion: successor }),
  };
  const details = Object.keys(detail).length === 0 ? [] : [detail];
  if (ending.reason === 'sunset')
    return new GatewayError(GONE, `${subject} is no longer available.${instead}`, { details });
  return new GatewayError(
    BROWNOUT,
    `${subject} is deprecated and paused until ${isoOf(ending.until)}, as announced.${instead}`,
    { details, headers: { 'Retry-After': String(Math.max(1, Math.ceil((ending.until - now) / 1000))) } },
  );
}

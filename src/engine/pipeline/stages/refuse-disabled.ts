import { GatewayError } from '../../errors/gateway-error.ts';
import type { Clock } from '../../../lib/clock.ts';
import type { StagePlanner } from '../stage.ts';

/** Refuses all requests for an operation that an operator has disabled, until that ends. */
export function refuseDisabled(clock: Clock): StagePlanner {
  return {
    name: 'refuse-disabled',
    plan({ disabled, transparent }) {
      if (transparent || disabled === undefined) return undefined;
      const { until } = disabled;
      return (next) => (exchange) => {
        const remaining = until - clock();
        // It has ended, but the plan has not been replaced yet.
        if (remaining <= 0) return next(exchange);
        throw operationDisabled(remaining);
      };
    },
  };
}

/** Returns the error for a disabled operation. The error does not contain the operator's reason. */
function operationDisabled(remainingMs: number): GatewayError {
  return new GatewayError('operation_disabled', 'This operation is temporarily disabled.', {
    headers: { 'Retry-After': String(Math.ceil(remainingMs / 1000)) },
  });
}

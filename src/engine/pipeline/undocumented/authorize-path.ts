import type { CheckLevel } from '../../model/checks.ts';
import type { Decision } from '../../model/operation.ts';
import type { Permissions } from '../../permissions/compile-permissions.ts';
import type { Grants } from '../../permissions/decide.ts';
import type { PassthroughExchange } from '../exchange.ts';
import type { Stage } from '../stage.ts';
import { permissionRefusal } from '../permission-refusal.ts';
import { traceDecision } from '../permission-verdict.ts';
import { needsCallerCredential } from '../upstream-request.ts';

/** Services that decide whether a caller may use an undocumented path. */
export interface UndocumentedAccess {
  readonly decidePermission: (permission: string, grants: Grants) => Decision;
  readonly grantsOf: Permissions['grantsOf'];
  /** The `WWW-Authenticate` header of a 401 response. */
  readonly challenge: string;
  /** True if a service account is configured. */
  readonly serviceCredential: boolean;
}

/**
 * Refuses callers who lack the permission that the policy requires, and requests that would be sent with the service
 * account's credential.
 */
export function authorizePath(level: CheckLevel, access: UndocumentedAccess): Stage<PassthroughExchange> {
  return (next) => (exchange) => {
    const { permission, principal, trace } = exchange;
    if (permission !== undefined && level !== 'off') {
      const decision = access.decidePermission(permission, access.grantsOf(principal, level));
      traceDecision(trace, level, decision);
      if (decision.verdict === 'denied' && level === 'enforce')
        throw permissionRefusal(undefined, exchange, decision.missing, access.challenge);
    }
    if (access.serviceCredential && principal.authorization === undefined)
      throw needsCallerCredential('address', principal);
    return next(exchange);
  };
}

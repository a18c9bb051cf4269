import type { Contract } from '../contract/contract.ts';
import type { Authenticator } from '../identity/authenticator.ts';
import type { Clock } from '../lib/clock.ts';
import type { Checks } from '../model/checks.ts';
import type { Decision } from '../model/requirement.ts';
import type { Principal } from '../model/principal.ts';
import type { Permissions } from '../permissions/compile-permissions.ts';
import type { Grants } from '../permissions/decide.ts';
import type { ShadowContract } from './shadow/shadow-contract.ts';
import type { Plan } from './plan.ts';
import type { Targets } from './targets.ts';
import type { UndocumentedPlan } from './undocumented/plan.ts';

/** Everything that a request can meet, compiled at start; the live path and `explain` both read it. */
export interface CompiledGateway {
  readonly contract: Contract;
  /** By operation id. */
  readonly plans: ReadonlyMap<string, Plan>;
  /** For requests that match no operation and that the policy lets pass. */
  readonly undocumented: UndocumentedPlan;
  /** The global levels, for requests that match no operation. */
  readonly checks: Checks;
  readonly authenticator: Authenticator;
  /** Whether callers without a credential are let in. */
  readonly anonymous: 'deny' | 'allow';
  readonly targets: Targets;
  readonly grantsOf: Permissions['grantsOf'];
  readonly audienceOf: (plan: Plan, principal: Principal, grants: Grants) => string;
  readonly decidePermission: (permission: string, grants: Grants) => Decision;
  /** Sees the traffic that a candidate contract judges too; undefined where there is none. */
  readonly candidate?: Pick<ShadowContract, 'arrived'> | undefined;
  /** `WWW-Authenticate` of a 401. */
  readonly challenge: string;
  readonly clock: Clock;
}

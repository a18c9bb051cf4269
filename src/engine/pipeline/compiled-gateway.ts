import type { AudienceGuard } from '../cache/audience-guard.ts';
import type { Contract } from '../contract/load-contract.ts';
import type { Authenticator } from '../identity/create-authenticator.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Checks } from '../model/checks.ts';
import type { Decision } from '../model/operation.ts';
import type { Permissions } from '../permissions/compile-permissions.ts';
import type { Grants } from '../permissions/decide.ts';
import type { MessageObserver } from './message-observer.ts';
import type { Plan } from './plan.ts';
import type { SideChoice } from './sides.ts';
import type { Targets } from './targets.ts';
import type { UndocumentedPlan } from './undocumented/plan.ts';
import type { SuggestPath } from './undocumented/suggest-path.ts';

/**
 * The parts of the gateway that handle requests, both for live traffic and for `explain`. They are compiled at startup
 * and again on each reload.
 */
export interface CompiledGateway {
  /** The path under which all of the API's addresses lie, with a slash at both ends. */
  readonly basePath: string;
  readonly contract: Contract;
  /** The plans of all operations, keyed by operation id. */
  readonly plans: ReadonlyMap<string, Plan>;
  /**
   * Recompiles an operation's plan after its levels have changed. Requests in progress continue to use the plan with
   * which they started. Unknown ids are ignored.
   */
  readonly recompile: (operationId: string) => void;
  /** The plan for requests that match no operation but are allowed by the policy. */
  readonly undocumented: UndocumentedPlan;
  /**
   * Returns an undocumented request's path in the form used by `undocumented.allow`, with placeholders for ids and
   * names. Words that do not occur in the contract are preserved only if the path `exists` on the upstream.
   */
  readonly pathTemplate: (path: string, exists: boolean) => string;
  /** Returns the documented path that a request for an undocumented path probably meant. */
  readonly suggestPath: SuggestPath;
  /** The global check levels, used for requests that match no operation. */
  readonly checks: Checks;
  readonly authenticator: Authenticator;
  readonly targets: Targets;
  readonly grantsOf: Permissions['grantsOf'];
  /** Determines which operations' stored responses are no longer shared among callers. */
  readonly guard: Pick<AudienceGuard, 'isDemoted'>;
  /**
   * Returns whether a caller with these grants certainly may use an operation: it exists, it is not switched off, and
   * neither the upstream nor the author of a node has to decide.
   */
  readonly mayUse: (operationId: string, grants: Grants) => boolean;
  readonly decidePermission: (permission: string, grants: Grants) => Decision;
  /** Sees every request that is dispatched. Undefined if nobody observes requests. */
  readonly observeRequest?: MessageObserver['request'] | undefined;
  /** The `WWW-Authenticate` header of a 401 response. */
  readonly challenge: string;
  readonly clock: Clock;
  /** What serves a part of the requests from a second upstream. Undefined if there is only one. */
  readonly second?: SecondSide | undefined;
}

/** The gateway in front of the second upstream. */
export interface SecondSide extends SideChoice {
  /**
   * Compiled like the first gateway, but with everything that is known about the second upstream in place of what is
   * known about the first: its address, connections, circuit, sessions, verified credentials and authors. Page versions
   * contain the address, so neither stored pages nor page counts nor fetches in progress are shared.
   */
  readonly gateway: CompiledGateway;
  /** Returns the name in a credential, before it is verified. `later` means that only its verification tells the name. */
  claimedName(authorization: string | undefined): { readonly name: string | undefined } | 'later';
}

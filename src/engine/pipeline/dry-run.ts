import type { Arrival } from '../model/arrival.ts';
import type { Upstream } from '../upstream/create-upstream.ts';
import { upstreamPath } from '../upstream/sending.ts';
import type { CompiledGateway } from './compiled-gateway.ts';
import type { Exchange } from './exchange.ts';
import type { Plan } from './plan.ts';
import type { Target } from './targets.ts';
import type { UndocumentedPlan } from './undocumented/plan.ts';

/** A hypothetical request to explain. */
export interface ExplainRequest {
  readonly method: string;
  /** The request target: path and query. */
  readonly target: string;
  /** The name of the caller's account, whose credential is assumed to be valid. Undefined for an anonymous caller. */
  readonly as?: string | undefined;
  /**
   * In place of the account, what a Bearer credential contains. It is assumed to be valid, so what only identifies it is
   * enough.
   */
  readonly token?: string | undefined;
  /**
   * The caller's password. It is needed only if the gateway does not verify callers: pages and page counts of unverified
   * callers are remembered for their exact credentials.
   */
  readonly password?: string | undefined;
  /** Further headers of the request. They cannot contain a credential. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** The body. Undefined for a request without one. */
  readonly body?: string | undefined;
}

/** Ends a request in a dry run where a real one would be sent upstream. */
export class Forwarded extends Error {
  override readonly name = 'Forwarded';
  readonly method: string;
  /** The target that would be sent, relative to the upstream's base path. */
  readonly target: string;

  constructor({ method, target }: Pick<Forwarded, 'method' | 'target'>) {
    super('a request in a dry run is not sent');
    this.method = method;
    this.target = target;
  }
}

/** The upstream of a dry run. It sends nothing: every exchange ends with `Forwarded`. */
export const SINK: Pick<Upstream, 'exchange'> = {
  exchange: async ({ method, target }) => {
    // The upstream refuses a target that cannot be sent, so the sink does too.
    upstreamPath('', target);
    throw new Forwarded({ method, target });
  },
};

/**
 * A gateway for a single hypothetical request. Its stages are those of the real gateway and read the same state, but
 * they cannot change that state, and the upstream is replaced by a sink.
 */
export interface DryRun {
  readonly gateway: CompiledGateway;
  /** Reads the request as the public side would. Throws a `GatewayError` if it is refused before it is dispatched. */
  readonly arrive: (request: ExplainRequest) => Promise<Arrival>;
  /** The names of the authentication schemes that are accepted. */
  readonly accepted: readonly string[];
  /** Returns what features say about a request, each with the name of its subject. */
  readonly describe: (plan: Plan, exchange: Exchange) => readonly (readonly [name: string, text: string])[];
  /** What the request turned out to be. Empty until it is dispatched. */
  readonly seen: Seen;
  /** The targets that a stage would have requested from the upstream before it could decide. */
  readonly lookUps: readonly string[];
  /** The operations disabled in the configuration, each with the key that would enable it. */
  readonly disabledOperations: ReadonlyMap<string, string>;
}

/** The target and the exchange of a request in a dry run. */
export interface Seen {
  target?: Target;
  /** Undefined if the request was refused before its plan began, or is undocumented. */
  exchange?: Exchange;
}

/** The parts of a gateway that a dry run replaces. */
interface DryRunParts {
  /** Compiles an operation's stages with services that have no effects. */
  readonly compile: (plan: Plan) => Plan;
  readonly undocumented: UndocumentedPlan;
  readonly authenticator: CompiledGateway['authenticator'];
}

/** Returns a gateway that decides like `gateway`, but with the parts for a dry run. `seen` records the request. */
export function dryRunGateway(
  gateway: CompiledGateway,
  { compile, undocumented, authenticator }: DryRunParts,
  seen: Seen,
): CompiledGateway {
  const inDryRun = (plan: Plan): Plan => {
    const compiled = compile(plan);
    return {
      ...compiled,
      handle(exchange) {
        seen.exchange = exchange;
        return compiled.handle(exchange);
      },
    };
  };
  return {
    ...gateway,
    authenticator,
    undocumented,
    observeRequest: undefined,
    targets: {
      ...gateway.targets,
      resolve(arrival) {
        const found = gateway.targets.resolve(arrival);
        const target = found.plan === undefined ? found : { ...found, plan: inDryRun(found.plan) };
        seen.target = target;
        return target;
      },
      remember: () => undefined,
    },
  };
}

import type { Checks } from '../../model/checks.ts';
import type { PassthroughExchange } from '../exchange.ts';
import { ENGINE_STAGES, type FeatureStage, type Handler, type Stage } from '../stage.ts';
import { authorizePath, type UndocumentedAccess } from './authorize-path.ts';
import { forwardPath, type ForwardUndocumentedServices } from './forward-path.ts';
import type { AllowEntry } from './policy.ts';
import { mayWrite, type PurgedBy, purgePath, type UndocumentedPurge } from './purge-path.ts';
import { type AddressServices, rewritePath, findAddresses } from './rewrite-path.ts';

/** The plan for undocumented paths: its composed handler and the names of its stages, outermost first. */
export interface UndocumentedPlan {
  /** Always undefined. Distinguishes this plan from the plan of an operation. */
  readonly operation: undefined;
  readonly cache: undefined;
  /** True if requests and responses are forwarded unchanged, as in `observe` mode. */
  readonly transparent: boolean;
  /** The names of the stages. Empty if the policy does not allow any requests. */
  readonly stages: readonly string[];
  readonly handle: Handler<PassthroughExchange>;
}

/** The dependencies of the plan for undocumented paths. */
export interface UndocumentedPlanParts extends AddressServices, ForwardUndocumentedServices {
  readonly checks: Pick<Checks, 'undocumented' | 'permissions'>;
  readonly allow: readonly AllowEntry[];
  readonly access: UndocumentedAccess;
  /** The stages of features. Their places relative to the engine's stages are those in the plans of operations. */
  readonly features?: readonly FeatureStage[];
  readonly purge: UndocumentedPurge;
  readonly purgedBy: PurgedBy;
}

/** Compiles the plan for undocumented paths, using only the stages that apply. */
export function compileUndocumentedPlan(parts: UndocumentedPlanParts): UndocumentedPlan {
  const { transparent, checks, allow, access, features = [], purge, purgedBy } = parts;
  const forwardsAnything = transparent || checks.undocumented !== 'enforce' || allow.length > 0;
  const needsPermission = checks.permissions !== 'off' && allow.some(({ permission }) => permission !== undefined);
  const stages: [name: string, stage: Stage<PassthroughExchange>][] = [];
  const grantsOf = ({ principal }: PassthroughExchange) => access.grantsOf(principal, checks.permissions);
  /** Adds a stage of the engine, if it is needed, after the features' stages that precede it in every plan. */
  const add = (place: FeatureStage['before'], name: string, stage?: Stage<PassthroughExchange>) => {
    for (const one of features) {
      const own = one.before === place ? one.planUndocumented?.({ transparent, grantsOf }) : undefined;
      if (own !== undefined) stages.push([one.name, own]);
    }
    if (stage !== undefined) stages.push([name, stage]);
  };
  const isAuthorized = access.serviceCredential || needsPermission;
  const mayPurge = transparent || allow.some(({ method }) => mayWrite(method));
  for (const place of ENGINE_STAGES) {
    if (place === 'authorize') add(place, place, isAuthorized ? authorizePath(checks.permissions, access) : undefined);
    else if (place === 'purge-tags') add(place, place, mayPurge ? purgePath(purge, purgedBy) : undefined);
    else if (place === 'rewrite-addresses')
      add(place, transparent ? 'find-addresses' : place, transparent ? findAddresses(parts) : rewritePath(parts));
    else add(place, place);
  }
  return {
    operation: undefined,
    cache: undefined,
    transparent,
    stages: forwardsAnything ? [...stages.map(([name]) => name), 'forward'] : [],
    handle: stages.reduceRight((next, [, stage]) => stage(next), forwardPath(parts)),
  };
}

/** Formats the plan as one line of text for `portico plan`. */
export function undocumentedPlanLine({ stages }: UndocumentedPlan): string {
  return `*    undocumented paths   ${stages.length === 0 ? 'refused' : stages.join(' → ')}`;
}

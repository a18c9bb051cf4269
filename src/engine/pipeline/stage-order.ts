import type { AudienceGuard } from '../cache/audience-guard.ts';
import type { Permissions } from '../permissions/compile-permissions.ts';
import type { PlanBodyCheck } from './request-rules.ts';
import type { LearnedCounts } from './services.ts';
import { ENGINE_STAGES, type FeatureStage, type StagePlanner } from './stage.ts';
import { authorize } from './stages/authorize.ts';
import type { Decide } from './decide-request.ts';
import { boundPage } from './stages/bound-page.ts';
import { cachePage, type CachePageServices } from './stages/cache-page.ts';
import { coalesce } from './stages/coalesce.ts';
import { forward, type ForwardServices } from './stages/forward.ts';
import { isolatePage, type IsolatePageServices } from './stages/isolate-page.ts';
import { type Purge, purgeTags } from './stages/purge-tags.ts';
import { refuseDisabled } from './stages/refuse-disabled.ts';
import { redactFields } from './stages/redact-fields.ts';
import { type LegacyAddresses, rewriteAddresses } from './stages/rewrite-addresses.ts';
import { translateFailure, type TranslateFailureServices } from './stages/translate-failure.ts';
import { type BodyLimits, validateBody } from './stages/validate-body.ts';
import { validateResponse, type ValidateResponseServices } from './stages/validate-response.ts';

/**
 * Returns the planners of all stages, outermost first: those of the engine, each preceded by the stages that features
 * place before it.
 */
export function stagePlanners(services: StageServices, features: readonly FeatureStage[]): readonly StagePlanner[] {
  return enginePlanners(services).flatMap((planner, index) =>
    [features.filter(({ before }) => before === ENGINE_STAGES[index]), planner].flat(),
  );
}

/** Returns the planners of the engine's stages, in the order of `ENGINE_STAGES`. */
function enginePlanners(services: StageServices): readonly StagePlanner[] {
  return [
    refuseDisabled(services.clock),
    authorize(services.decide, services.challenge),
    validateBody(services.planBodyCheck, services.bodyLimits),
    boundPage(services.pageCounts.counts, services.pageCounts.shared),
    purgeTags(services.purge),
    redactFields(services.permissions.readerOf),
    rewriteAddresses(services.legacyAddresses),
    cachePage(services),
    coalesce(services.cache, services.logAttempts !== undefined),
    isolatePage(services),
    translateFailure(services),
    validateResponse(services),
    forward(services),
  ];
}

/** The services that the stages need. */
export interface StageServices
  extends CachePageServices, ForwardServices, IsolatePageServices, TranslateFailureServices, ValidateResponseServices {
  readonly guard: AudienceGuard;
  readonly decide: Decide;
  readonly planBodyCheck: PlanBodyCheck;
  readonly bodyLimits: BodyLimits;
  readonly pageCounts: LearnedCounts;
  readonly purge: Purge;
  readonly permissions: Pick<Permissions, 'readerOf'>;
  readonly legacyAddresses: LegacyAddresses;
}

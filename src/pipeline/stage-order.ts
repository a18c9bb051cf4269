import type { UploadMemory } from '../gdpr/upload-memory.ts';
import type { PageCounts, SharedPageCounts } from '../paging/page-counts.ts';
import type { Grants } from '../permissions/decide.ts';
import type { RateLimiter } from './rate-limiter.ts';
import type { PlanBodyCheck } from './request-rules.ts';
import type { StagePlanner } from './stage.ts';
import { authorize, type Decide } from './stages/authorize.ts';
import { boundPage } from './stages/bound-page.ts';
import { cachePage, type CachePageServices } from './stages/cache-page.ts';
import { coalesce } from './stages/coalesce.ts';
import { forward, type ForwardServices } from './stages/forward.ts';
import { isolatePage, type IsolatePageServices } from './stages/isolate-page.ts';
import { type Purge, purgeTags } from './stages/purge-tags.ts';
import { refuseDisabled } from './stages/refuse-disabled.ts';
import { redactFields } from './stages/redact-fields.ts';
import { limitRate } from './stages/limit-rate.ts';
import { refuseDuplicate } from './stages/refuse-duplicate.ts';
import { type LegacyAddresses, rewriteAddresses } from './stages/rewrite-addresses.ts';
import { translateFailure, type TranslateFailureServices } from './stages/translate-failure.ts';
import { type BodyLimits, validateBody } from './stages/validate-body.ts';
import { validateResponse, type ValidateResponseServices } from './stages/validate-response.ts';

/** Returns the planners of all stages, outermost first. Only this function defines the order of the stages. */
export function stagePlanners(services: StageServices): readonly StagePlanner[] {
  return [
    refuseDisabled(services.clock),
    limitRate(services.rateLimiter),
    authorize(services.decide, services.challenge),
    validateBody(services.planBodyCheck, services.bodyLimits),
    refuseDuplicate(services.uploads),
    boundPage(services.pageCounts, services.sharedPageCounts),
    purgeTags(services.purge),
    redactFields(services.mayReadPrivateFields),
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
  /** Counts requests against `rateLimits`. Undefined if `rateLimits` is not configured. */
  readonly rateLimiter: RateLimiter | undefined;
  readonly decide: Decide;
  readonly planBodyCheck: PlanBodyCheck;
  readonly bodyLimits: BodyLimits;
  readonly uploads: UploadMemory;
  readonly pageCounts: PageCounts;
  /** The page counts of other gateways. Undefined if the gateways share no state. */
  readonly sharedPageCounts?: SharedPageCounts | undefined;
  readonly purge: Purge;
  readonly mayReadPrivateFields: (grants: Grants) => boolean;
  readonly legacyAddresses: LegacyAddresses;
}

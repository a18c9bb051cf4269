import { authorize } from './stages/authorize.ts';
import { boundPage } from './stages/bound-page.ts';
import { cachePage } from './stages/cache-page.ts';
import { coalesce } from './stages/coalesce.ts';
import { forward } from './stages/forward.ts';
import { purgeTags } from './stages/purge-tags.ts';
import { redactFields } from './stages/redact-fields.ts';
import { refuseDuplicate } from './stages/refuse-duplicate.ts';
import { rewriteAddresses } from './stages/rewrite-addresses.ts';
import { translateFailure } from './stages/translate-failure.ts';
import { validateBody } from './stages/validate-body.ts';
import { validateResponse } from './stages/validate-response.ts';
import type { StagePlanner } from './stage.ts';
import type { StageServices } from './stage-services.ts';

/** The one place that decides the order of stages, outermost first. */
export function stagePlanners(services: StageServices): readonly StagePlanner[] {
  return [
    authorize(services.decide, services.challenge),
    validateBody(services.checkBody, services.bodyLimits),
    refuseDuplicate(services.uploads),
    boundPage(services.pageCounts, services.contractVersion),
    purgeTags(services.purge),
    redactFields(services.mayReadPrivateFields, services.jsonLimits),
    rewriteAddresses(services.legacyAddresses),
    cachePage(services),
    coalesce(services.cache, services.contractVersion),
    translateFailure(services),
    validateResponse(services),
    forward(services),
  ];
}

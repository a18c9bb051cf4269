import type { UploadMemory } from '../gdpr/upload-memory.ts';
import type { PageCounts } from '../paging/page-counts.ts';
import type { Grants } from '../permissions/decide.ts';
import type { Decide } from './stages/authorize.ts';
import type { CachePageServices } from './stages/cache-page.ts';
import type { ForwardServices } from './stages/forward.ts';
import type { Purge } from './stages/purge-tags.ts';
import type { LegacyAddresses } from './stages/rewrite-addresses.ts';
import type { TranslateFailureServices } from './stages/translate-failure.ts';
import type { BodyLimits, CheckBody } from './stages/validate-body.ts';
import type { ValidateResponseServices } from './stages/validate-response.ts';

/** Everything that stages are planned with. */
export interface StageServices
  extends CachePageServices, ForwardServices, TranslateFailureServices, ValidateResponseServices {
  readonly decide: Decide;
  readonly checkBody: CheckBody;
  readonly bodyLimits: BodyLimits;
  readonly uploads: UploadMemory;
  readonly pageCounts: PageCounts;
  readonly purge: Purge;
  readonly mayReadPrivateFields: (grants: Grants) => boolean;
  readonly legacyAddresses: LegacyAddresses;
}

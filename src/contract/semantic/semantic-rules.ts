import { actionPageSize } from './action-page-size.ts';
import { canceledFields } from './canceled-fields.ts';
import { executionsWhenFinished } from './executions-when-finished.ts';
import { listCount } from './list-count.ts';
import { newestFirst } from './newest-first.ts';
import { onlyKbentry } from './only-kbentry.ts';
import { recipientsVisibility } from './recipients-visibility.ts';
import type { SemanticRule } from './semantic-rule.ts';
import { spaceFilter } from './space-filter.ts';
import { unfavoriteResult } from './unfavorite-result.ts';
import { unwikifyResult } from './unwikify-result.ts';

const RULES: readonly SemanticRule[] = [
  listCount,
  recipientsVisibility,
  executionsWhenFinished,
  canceledFields,
  spaceFilter,
  unfavoriteResult,
  unwikifyResult,
  actionPageSize,
  newestFirst,
  onlyKbentry,
];

/** The semantic rules that the contract can name in `x-semantic-rules` (rules, 7). */
export const SEMANTIC_RULES: ReadonlyMap<string, SemanticRule> = new Map(RULES.map((rule) => [rule.name, rule]));

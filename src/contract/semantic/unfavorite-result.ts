import { canceledResult } from './canceled-result.ts';
import type { SemanticRule } from './semantic-rule.ts';

/** Taking a favourite away answers the `favorited` action, canceled. */
export const unfavoriteResult: SemanticRule = {
  name: 'unfavorite-result',
  reads: ['result'],
  judge: (json) => canceledResult(json, 'favoriteAction', 'favorited'),
};

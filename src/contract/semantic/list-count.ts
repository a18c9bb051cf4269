import { toObject } from '../items-of.ts';
import type { SemanticRule } from './semantic-rule.ts';

/** `listCount` is the number of items in `list`. */
export const listCount: SemanticRule = {
  name: 'list-count',
  reads: [],
  judge: (json) => {
    const { list, listCount: count } = toObject(json) ?? {};
    if (!Array.isArray(list) || typeof count !== 'number' || list.length === count) return [];
    return [{ at: '/listCount', message: 'listCount must be the number of items in list' }];
  },
};

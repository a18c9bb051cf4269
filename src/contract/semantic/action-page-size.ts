import { toArray, toObject } from '../items-of.ts';
import type { SemanticRule } from './semantic-rule.ts';

const DEFAULT_PAGE_SIZE = 20;

/** Actions come at most 20 at a time when no page size was asked for. */
export const actionPageSize: SemanticRule = {
  name: 'action-page-size',
  reads: [],
  judge: (json, _operation, { query }) => {
    const tooMany = !query.has('pageSize') && toArray(toObject(json)?.['actions']).length > DEFAULT_PAGE_SIZE;
    return tooMany ? [{ at: '/actions', message: `actions must be at most ${DEFAULT_PAGE_SIZE} by default` }] : [];
  },
};

import { itemsOf, toArray } from '../items-of.ts';
import type { SemanticRule } from './semantic-rule.ts';

/** With `spaceId`, every item is in that space. */
export const spaceFilter: SemanticRule = {
  name: 'space-filter',
  reads: ['containerIds'],
  judge: (json, operation, { spaceId }) => {
    if (spaceId === undefined) return [];
    // The body's numbers are rounded above 2^53 in the same way.
    const space = Number(spaceId);
    return itemsOf(operation.itemsAt, json)
      .filter(({ value }) => !toArray(value['containerIds']).includes(space))
      .map(({ at }) => ({ at: `${at}/containerIds`, message: 'containerIds must hold the space that was asked for' }));
  },
};

import { itemsOf, toArray, toObject } from '../items.ts';
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

/** The article list holds only articles, whose type is `kbentry`. */
export const onlyKbentry: SemanticRule = {
  name: 'only-kbentry',
  reads: ['type'],
  judge: (json, operation) =>
    itemsOf(operation.itemsAt, json)
      .filter(({ value }) => value['type'] !== 'kbentry')
      .map(({ at }) => ({ at: `${at}/type`, message: 'type must be kbentry in the article list' })),
};

/** With `spaceId`, every item is in that space. */
export const spaceFilter: SemanticRule = {
  name: 'space-filter',
  reads: ['containerIds'],
  judge: (json, operation, { spaceId }) => {
    if (spaceId === undefined) return [];
    // The numbers of the body are rounded above 2^53 in the same way.
    const space = Number(spaceId);
    return itemsOf(operation.itemsAt, json)
      .filter(({ value }) => !toArray(value['containerIds']).includes(space))
      .map(({ at }) => ({ at: `${at}/containerIds`, message: 'containerIds must hold the space that was asked for' }));
  },
};

/** A comment has recipients only with the visibility `recipients`. */
export const recipientsVisibility: SemanticRule = {
  name: 'recipients-visibility',
  reads: ['visibility', 'recipients'],
  judge: (json, operation) =>
    itemsOf(operation.itemsAt, json)
      .filter(({ value }) => toArray(value['recipients']).length > 0 && value['visibility'] !== 'recipients')
      .map(({ at }) => ({
        at: `${at}/recipients`,
        message: 'recipients must only come with the visibility recipients',
      })),
};

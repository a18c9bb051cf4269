import { itemsOf, toArray } from '../items-of.ts';
import type { SemanticRule } from './semantic-rule.ts';

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

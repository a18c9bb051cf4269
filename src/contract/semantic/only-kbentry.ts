import { itemsOf } from '../items-of.ts';
import type { SemanticRule } from './semantic-rule.ts';

/** The article list holds only articles, whose type is `kbentry`. */
export const onlyKbentry: SemanticRule = {
  name: 'only-kbentry',
  reads: ['type'],
  judge: (json, operation) =>
    itemsOf(operation.itemsAt, json)
      .filter(({ value }) => value['type'] !== 'kbentry')
      .map(({ at }) => ({ at: `${at}/type`, message: 'type must be kbentry in the article list' })),
};

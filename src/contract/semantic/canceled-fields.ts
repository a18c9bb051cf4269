import { actionsOf } from './actions-of.ts';
import type { SemanticRule } from './semantic-rule.ts';

/** A canceled action says who canceled it and when. */
export const canceledFields: SemanticRule = {
  name: 'canceled-fields',
  reads: ['canceled', 'canceledByUser', 'canceledDate'],
  judge: (json) =>
    actionsOf(json)
      .filter(({ value }) => value['canceled'] === true)
      .flatMap(({ at, value }) =>
        ['canceledByUser', 'canceledDate']
          .filter((field) => !Object.hasOwn(value, field))
          .map((field) => ({ at: `${at}/${field}`, message: `${field} must be there when an action is canceled` })),
      ),
};

import { itemsOf } from '../items-of.ts';
import type { SemanticRule } from './semantic-rule.ts';

/** A privacy job has `executions` exactly when it is finished. */
export const executionsWhenFinished: SemanticRule = {
  name: 'executions-when-finished',
  reads: ['status', 'executions'],
  judge: (json, operation) =>
    itemsOf(operation.itemsAt, json)
      .filter(({ value }) => 'status' in value && 'executions' in value !== (value['status'] === 'FINISHED'))
      .map(({ at }) => ({
        at: `${at}/executions`,
        message: 'executions must be there exactly when the job is FINISHED',
      })),
};

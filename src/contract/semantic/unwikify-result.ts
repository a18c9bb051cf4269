import { canceledResult } from './canceled-result.ts';
import type { SemanticRule } from './semantic-rule.ts';

/** Taking the wiki mark away answers the `wikified` action, canceled. */
export const unwikifyResult: SemanticRule = {
  name: 'unwikify-result',
  reads: ['result'],
  judge: (json) => canceledResult(json, 'wikifyAction', 'wikified'),
};

import { expect, it } from 'vitest';
import { operationFaults } from '../../src/config/operation-faults.ts';
import { load } from './load-in-folder.ts';

it('operations that the contract lacks are faults wherever they are named', () => {
  const settings = load(`operations:
  listQuestion: { errors: legacy }
  listIdeas: { errors: legacy }
parameters:
  allow: { nonsense: [a] }
cache:
  defaultPageSize: { listIdea: 15 }
`);
  expect(operationFaults(settings, ['listQuestions', 'listIdeas'])).toMatchObject([
    { source: 'config/portico.yaml:2', pointer: '/operations/listQuestion', suggestion: 'did you mean listQuestions?' },
    { source: 'config/portico.yaml:5', pointer: '/parameters/allow/nonsense' },
    {
      source: 'config/portico.yaml:7',
      pointer: '/cache/defaultPageSize/listIdea',
      suggestion: 'did you mean listIdeas?',
    },
  ]);
});

import { describe, expect, it } from 'vitest';
import { compileSuggestPath } from '../../../../src/engine/pipeline/undocumented/suggest-path.ts';
import { exampleResponse } from '../../../builders/example-response.ts';
import { expectError } from '../../../builders/expect-error.ts';
import { startFakeUpstream } from '../../../builders/fake-upstream.ts';
import { startTestGateway } from '../../../builders/test-gateway.ts';

const LIST = '/services/v2/question.json';
const COMMENT = '/services/v2/comment/{commentId}.json';

describe('the suggestion for an undocumented path', () => {
  const suggest = compileSuggestPath([
    LIST,
    COMMENT,
    '/services/v2/idea.json',
    '/services/v2/node/{nodeId}/comment.json',
  ]);

  it.each([
    ['/services/v2/questions.json', LIST],
    ['/services/v2/Question.json', LIST],
    ['/SERVICES/V2/QUESTION.JSON', LIST],
    ['/services/v2/question', LIST],
    ['/services/v2/question.json/', LIST],
    ['/service/v2/question.json', LIST],
    ['/services/v2//question.json', LIST],
    ['/services/v2/coment/271.json', COMMENT],
    ['/services/v2/comment/271', COMMENT],
    ['/services/v2/node/7/comments.json', '/services/v2/node/{nodeId}/comment.json'],
    ['/services/v2/ideas.json', '/services/v2/idea.json'],
    ['/services/v2/other.json', undefined],
    ['/services/v2/', undefined],
    ['/admin', undefined],
    [`/services/v2/${'q'.repeat(8000)}`, undefined],
  ])('%s is %s', (path, expected) => {
    expect(suggest(path)).toBe(expected);
  });

  it('is part of the refusal and of its explanation', async () => {
    const gateway = await startTestGateway({ upstream: await startFakeUpstream(exampleResponse) });
    const target = '/services/v2/questions.json';
    const refused = await gateway.call(target);
    expectError(refused, 404, 'not_in_contract');
    const message = `This address is not in the contract; did you mean ${LIST}?`;
    expect(refused.json).toMatchObject({ error: message, details: [{ in: 'path', suggestion: LIST }, {}] });
    for (const [method, given] of [
      ['GET', target],
      ['POST', target],
    ] as const)
      expect(await gateway.gateway.explain({ method, target: given, as: 'admin' })).toContainEqual({
        name: 'verdict',
        text: `404 not_in_contract: ${message}`,
      });
  });
});

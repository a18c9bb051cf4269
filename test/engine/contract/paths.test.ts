import { describe, expect, it } from 'vitest';
import { CONTRACT_DEFAULTS } from '../../../src/portico-settings.ts';
import { compilePaths } from '../../../src/engine/contract/paths.ts';
import { loadContract } from '../../../src/engine/contract/load-contract.ts';
import { OBSERVED_OPERATIONS } from '../../builders/operations.ts';
import { contract } from './sample.ts';

const template = (path: string) => contract.match(path)?.template;

const entry = (path: string) => ({ template: path, byMethod: new Map(), undocumentedMethods: new Set<string>() });

describe('matching a path', () => {
  it('finds every template of the contract with its placeholders replaced', () => {
    for (const { path, method, id } of contract.operations)
      expect(contract.match(path.replaceAll(/\{[^}]+\}/g, '7'))?.byMethod.get(method)?.id).toBe(id);
  });

  it.each([
    '/services/v2/Question.json',
    '/SERVICES/v2/question.json',
    '/services/v2/question.JSON',
    '/services/v2/question',
    '/services/v2/question.json/',
    '/services/v2//question.json',
    '//services/v2/question.json',
    'services/v2/question.json',
    '/services/v2/comment/.json',
    '/services/v2/comment/7',
    '/services/v2/comment/7/8.json',
    '/services/v2/node//comment.json',
    '/services/v2/question.json;a=1',
    '/services/v2/question%2Ejson',
    '',
    '/',
  ])('does not match %s', (path) => {
    expect(contract.match(path)).toBeUndefined();
  });

  it('accepts any non-empty segment as a path parameter and does not decode it', () => {
    expect(contract.match('/services/v2/comment/abc.json')?.rawParameters).toEqual({ commentId: 'abc' });
    expect(contract.match('/services/v2/comment/..%2f..%2fadmin.json')?.rawParameters).toEqual({
      commentId: '..%2f..%2fadmin',
    });
  });

  it('returns several parameters of one path', () => {
    const match = contract.match('/services/v2/issuetracker/node/1/issue/10001/attachments.json');
    expect(match?.rawParameters).toEqual({ nodeId: '1', issueId: '10001' });
  });

  it('returns all methods of a path, including inferred ones', () => {
    const match = contract.match('/services/v2/node/1/comment.json');
    expect([...(match?.byMethod.keys() ?? [])]).toEqual(['GET', 'POST']);
  });

  it('lists the methods of inferred operations separately if these are switched off', () => {
    const plain = loadContract({ ...CONTRACT_DEFAULTS, inferred: false });
    const match = plain.match('/services/v2/comment/1.json');
    expect([...(match?.byMethod.keys() ?? [])]).toEqual(['GET']);
    expect([...(match?.undocumentedMethods ?? [])]).toEqual(['PUT']);
    expect(plain.operations).toHaveLength(OBSERVED_OPERATIONS.length);
  });

  it('prefers a fixed segment and falls back to a placeholder if the rest does not match', () => {
    const match = compilePaths([entry('/a/b/c'), entry('/a/{x}/d'), entry('/a/{y}.json')]);
    expect(match('/a/b/c')?.template).toBe('/a/b/c');
    expect(match('/a/b/d')).toMatchObject({ template: '/a/{x}/d', rawParameters: { x: 'b' } });
    expect(match('/a/b.json')).toMatchObject({ template: '/a/{y}.json', rawParameters: { y: 'b' } });
  });

  it('does not split a path into more segments than a template can have', () => {
    expect(template(`/services/v2${'/x'.repeat(100_000)}`)).toBeUndefined();
  });
});

import { describe, expect, it } from 'vitest';
import { CONTRACT_DEFAULTS } from '../../../../src/portico-settings.ts';
import { loadContract } from '../../../../src/engine/contract/load-contract.ts';
import { OPERATION_CHECKS } from '../../../../src/engine/model/checks.ts';
import { MODES } from '../../../../src/engine/model/modes.ts';
import { OBSERVED_OPERATIONS, OPERATIONS } from '../../../builders/operations.ts';
import { describeContract } from '../../../../src/features/console/api-docs/describe-contract.ts';

const described = (inferred: boolean) => {
  const { document, operations, rules, version } = loadContract({ ...CONTRACT_DEFAULTS, inferred });
  return describeContract({
    contractVersion: version,
    document,
    operations,
    rules,
    checksFor: () => MODES.strict.checks,
    publicBasePath: '/qa',
  });
};
const operationsOf = (inferred: boolean) => described(inferred).groups.flatMap(({ operations }) => operations);

describe('the description of the contract', () => {
  it('lists every operation once, in the groups of the document, and inferred ones only if they are served', () => {
    expect(operationsOf(true)).toHaveLength(OPERATIONS.length);
    expect(operationsOf(false)).toHaveLength(OBSERVED_OPERATIONS.length);
    expect(new Set(operationsOf(true).map(({ id }) => id)).size).toBe(OPERATIONS.length);
    expect(described(true).groups.map(({ name }) => name)).toContain('comments');
    expect(described(true).groups.every(({ description }) => description !== '')).toBe(true);
  });

  it('contains only references to its own schemas', () => {
    const contract = described(true);
    const references = [...JSON.stringify(contract).matchAll(/"\$ref":"([^"]+)"/g)].map(
      ([, reference = '']) => reference,
    );
    expect(references.length).toBeGreaterThan(20);
    for (const reference of references) {
      expect(reference).toMatch(/^#\/components\/schemas\//);
      expect(contract.schemas).toHaveProperty([reference.replace('#/components/schemas/', '')]);
    }
  });

  it('describes every rule in words', () => {
    const rules = operationsOf(true).flatMap(({ responseRules, requestRules }) => responseRules.concat(requestRules));
    expect(rules.length).toBeGreaterThan(10);
    expect(rules.filter(({ text }) => text === '')).toEqual([]);
  });

  it('has words for each check of operations', () => {
    const { checks } = described(true);
    expect(checks.map(({ name }) => name)).toEqual(OPERATION_CHECKS);
    expect(checks).toContainEqual({ name: 'pageBounds', words: 'page and page size' });
  });

  it('describes for each operation what a caller needs to know', () => {
    const comment = operationsOf(true).find(({ id }) => id === 'getComment');
    expect(comment).toMatchObject({
      method: 'GET',
      path: '/services/v2/comment/{commentId}.json',
      requires: '("View answers in the question page" and "View the question page")',
      checks: { requests: 'enforce' },
    });
    expect(comment?.parameters[0]).toMatchObject({ name: 'commentId', in: 'path', example: 271 });
    expect(comment?.responses.map(({ status }) => status)).toContain('200');
    expect(comment?.responses[0]?.content[0]?.examples[0]?.value).toHaveProperty('id');
  });
});

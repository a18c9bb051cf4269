import { describe, expect, it } from 'vitest';
import { documentedText, requestRefusal, toDetail } from '../../../src/engine/pipeline/request-refusal.ts';
import { operationWith, violationWith } from '../../builders/exchange.ts';

describe('the refusal of a request', () => {
  const documented = operationWith({
    documentedErrors: [{ status: 400, text: "The provided 'job id' is/are invalid" }],
  });

  it("has the text that the operation documents for that status, or otherwise Portico's own", () => {
    expect(documentedText(documented, 400, {}, 'own')).toBe("The provided 'job id' is/are invalid");
    expect(documentedText(documented, 403, {}, 'own')).toBe('own');
  });

  it('has the documented text only for the causes that the text describes', () => {
    const text = "The provided 'job id' is/are invalid";
    const operation = operationWith({ documentedErrors: [{ status: 400, text, causes: ['jobId', 'no-job'] }] });
    expect(documentedText(operation, 400, { at: 'jobId', keyword: 'type' }, 'own')).toBe(text);
    expect(documentedText(operation, 400, { at: '/x', keyword: 'no-job' }, 'own')).toBe(text);
    expect(documentedText(operation, 400, { at: 'colour', keyword: 'unknown' }, 'own')).toBe('own');
    expect(requestRefusal(operation, 'unknown_parameter', [violationWith()]).message).toBe('page must be an integer');
  });

  it('describes the first violation and lists all of them', () => {
    const second = violationWith({ at: 'pageSize', message: 'pageSize must be an integer' });
    const error = requestRefusal(operationWith(), 'invalid_parameter', [violationWith(), second]);
    expect(error.message).toBe('page must be an integer');
    expect(error.details.map(({ name }) => name)).toEqual(['page', 'pageSize']);
  });

  it('includes a suggestion', () => {
    const violation = violationWith({ suggestion: 'pageSize' });
    expect(requestRefusal(operationWith(), 'unknown_parameter', [violation]).message).toContain(
      '; did you mean pageSize?',
    );
    expect(toDetail(violation)).toEqual({
      in: 'query',
      name: 'page',
      message: 'page must be an integer',
      suggestion: 'pageSize',
    });
    expect(toDetail(violationWith())).not.toHaveProperty('suggestion');
  });
});

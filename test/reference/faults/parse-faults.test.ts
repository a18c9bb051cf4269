import { describe, expect, it } from 'vitest';
import { FAULT_NAMES } from '../../../src/reference/faults/fault-names.ts';
import { FaultSyntaxError, parseFaults } from '../../../src/reference/faults/parse-faults.ts';
import { textLike } from '../matchers.ts';

function problemsOf(...texts: string[]): readonly string[] {
  try {
    parseFaults(texts);
  } catch (error) {
    if (error instanceof FaultSyntaxError) return error.problems;
  }
  return [];
}

describe('parseFaults', () => {
  it('reads every name alone', () => {
    expect(parseFaults(FAULT_NAMES).map(({ name }) => name)).toEqual(FAULT_NAMES);
  });

  it('reads parameter, target and share, in either spelling of the parameter', () => {
    expect(parseFaults(['slow:250@6%10', 'html=503@/idea\\.json%0.5', 'missing-field:title%50'])).toEqual([
      { name: 'slow', parameter: '250', target: 6, share: 0.1 },
      { name: 'html', parameter: '503', target: /\/idea\.json/, share: 0.005 },
      { name: 'missing-field', parameter: 'title', share: 0.5 },
    ]);
  });

  it('reads a kind of drift as the fault that it is', () => {
    expect(parseFaults(['drift%10', 'drift:wrong-type@6', 'drift=missing-field:title'])).toEqual([
      { name: 'drift', share: 0.1 },
      { name: 'wrong-type', target: 6, share: 1 },
      { name: 'missing-field', parameter: 'title', share: 1 },
    ]);
  });

  it('reads a type as the parameter of content-type', () => {
    expect(parseFaults(['content-type:text/html; charset=utf-8'])).toEqual([
      { name: 'content-type', parameter: 'text/html; charset=utf-8', share: 1 },
    ]);
  });

  it.each([
    ['sloow', /no fault "sloow"/],
    ['', /cannot be read/],
    ['drift:slow', /one of missing-field, wrong-type, extra-field, wrong-envelope/],
    ['slow:soon', /number from 0 to 600000/],
    ['html:99', /number from 200 to 599/],
    ['reset:now', /takes no parameter/],
    ['500@17', /no operation 17/],
    ['500@(', /no regular expression/],
    ['500%0', /percentage above 0/],
    ['500%101', /percentage above 0/],
    ['500%x', /percentage above 0/],
    ['error-in-200:other', /only the parameter permission/],
    ['content-type:a\r\nX: y', /printable ASCII|cannot be read/],
    ['extra-field:', /empty/],
  ])('refuses %j and says why', (text, reason) => {
    expect(problemsOf(text)).toEqual([textLike(reason)]);
  });

  it('names every bad fault at once', () => {
    expect(problemsOf('reset', 'nope', '500%200', 'slow')).toHaveLength(2);
  });
});

import { describe, expect, it } from 'vitest';
import { CHAOS_NAMES, LAST_OPERATION } from '../../../src/reference/chaos/chaos-kinds.ts';
import { ChaosSyntaxError, parseChaos } from '../../../src/reference/chaos/parse-chaos.ts';
import { ROUTES } from '../../../src/reference/routes.ts';
import { contract } from '../../engine/contract/sample.ts';
import { textLike } from '../matchers.ts';

function problemsOf(...texts: string[]): readonly string[] {
  try {
    parseChaos(texts);
  } catch (error) {
    if (error instanceof ChaosSyntaxError) return error.problems;
  }
  return [];
}

describe('parseChaos', () => {
  it('accepts each name on its own', () => {
    expect(parseChaos(CHAOS_NAMES).map(({ name }) => name)).toEqual(CHAOS_NAMES);
  });

  it('parses parameter, target and share, with a colon or an equals sign before the parameter', () => {
    expect(parseChaos(['slow:250@6%10', 'html=503@/idea\\.json%0.5', 'missing-field:title%50'])).toEqual([
      { name: 'slow', parameter: '250', target: 6, share: 0.1 },
      { name: 'html', parameter: '503', target: /\/idea\.json/, share: 0.005 },
      { name: 'missing-field', parameter: 'title', share: 0.5 },
    ]);
  });

  it('accepts the number of every operation that has one in the contract and in the routes of the server', () => {
    const numbers = Array.from({ length: LAST_OPERATION }, (_, index) => index + 1);
    expect(contract.operations.flatMap(({ row }) => row ?? [])).toEqual(numbers);
    expect(ROUTES.flatMap(({ operation }) => operation ?? []).toSorted((a, b) => a - b)).toEqual(numbers);
    expect(parseChaos(numbers.map((number) => `500@${number}`)).map(({ target }) => target)).toEqual(numbers);
  });

  it('replaces a kind of drift by the equivalent rule', () => {
    expect(parseChaos(['drift%10', 'drift:wrong-type@6', 'drift=missing-field:title'])).toEqual([
      { name: 'drift', share: 0.1 },
      { name: 'wrong-type', target: 6, share: 1 },
      { name: 'missing-field', parameter: 'title', share: 1 },
    ]);
  });

  it('accepts a media type as the parameter of content-type', () => {
    expect(parseChaos(['content-type:text/html; charset=utf-8'])).toEqual([
      { name: 'content-type', parameter: 'text/html; charset=utf-8', share: 1 },
    ]);
  });

  it.each([
    ['sloow', /unknown name "sloow"/],
    ['', /cannot be parsed/],
    ['drift:slow', /one of missing-field, wrong-type, extra-field, wrong-envelope/],
    ['slow:soon', /number from 0 to 600000/],
    ['html:99', /number from 200 to 599/],
    ['reset:now', /does not take a parameter/],
    [`500@${LAST_OPERATION + 1}`, /unknown operation \d+; the operations are 1 to \d+$/],
    ['500@0', /unknown operation 0/],
    ['500@(', /not a valid regular expression/],
    ['500%0', /percentage greater than 0/],
    ['500%101', /percentage greater than 0/],
    ['500%x', /percentage greater than 0/],
    ['error-in-200:other', /only parameter of error-in-200 is permission/],
    ['content-type:a\r\nX: y', /printable ASCII|cannot be parsed/],
    ['extra-field:', /empty/],
  ])('rejects %j with a reason', (text, reason) => {
    expect(problemsOf(text)).toEqual([textLike(reason)]);
  });

  it('reports all invalid values in one error', () => {
    expect(problemsOf('reset', 'nope', '500%200', 'slow')).toHaveLength(2);
  });
});

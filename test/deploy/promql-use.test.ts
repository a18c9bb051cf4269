import { describe, expect, it } from 'vitest';
import { promqlUse } from './promql-use.ts';

describe('the names in a query', () => {
  it('are metrics with their matchers, not functions, words, numbers or variables', () => {
    const query = `histogram_quantile(0.9, sum by (le, job) (rate(a_bucket{code="x,}y", kind=~"p|q"}[$__rate_interval])))
      / on (job) group_left (team) (b:c:rate5m > 14.4 and absent(up) or d offset 1h) unless bool_e`;
    expect(promqlUse(query)).toEqual({
      metrics: [
        {
          name: 'a_bucket',
          matchers: [
            { label: 'code', value: 'x,}y', isPattern: false },
            { label: 'kind', value: 'p|q', isPattern: true },
          ],
        },
        { name: 'b:c:rate5m', matchers: [] },
        { name: 'up', matchers: [] },
        { name: 'd', matchers: [] },
        { name: 'bool_e', matchers: [] },
      ],
      labels: ['le', 'job', 'job', 'team'],
    });
  });
});

import { describe, expect, it } from 'vitest';
import { filterViolations, type ViolationFilter } from '../../src/console/violation-filter.ts';
import { rowWith } from './violation-fixtures.ts';

const ANY: ViolationFilter = {
  category: '',
  direction: '',
  operation: '',
  check: '',
  release: '',
  state: '',
  text: '',
};
const rows = [
  rowWith({ fingerprint: 'a', category: 'type', operation: 'listIdeas', at: '/list/*/id' }),
  rowWith({ fingerprint: 'b', category: 'missing', operation: 'listIdeas', accepted: { expired: false } }),
  rowWith({ fingerprint: 'c', category: 'type', operation: undefined, accepted: { expired: true } }),
  rowWith({ fingerprint: 'd', category: 'type', direction: 'request', check: 'requests', releases: { old: 1 } }),
];
const found = (filter: Partial<ViolationFilter>) =>
  filterViolations(rows, { ...ANY, ...filter }).rows.map(({ fingerprint }) => fingerprint);

describe('the filters of violations', () => {
  it.each<[Partial<ViolationFilter>, string[]]>([
    [{}, ['a', 'b', 'c', 'd']],
    [{ category: 'type' }, ['a', 'c', 'd']],
    [{ operation: 'listIdeas' }, ['a', 'b']],
    [{ operation: 'undocumented' }, ['c']],
    [{ direction: 'request' }, ['d']],
    [{ check: 'responses', category: 'type' }, ['a', 'c']],
    [{ state: 'new' }, ['a', 'c', 'd']],
    [{ state: 'accepted' }, ['b']],
    [{ release: 'old' }, ['d']],
    [{ release: 'constructor' }, []],
    [{ text: 'LIST/*/ID' }, ['a']],
    [{ text: 'nothing' }, []],
  ])('leave with %j', (filter, left) => {
    expect(found(filter)).toEqual(left);
  });

  it('tell beside each choice how many it would leave, the other filters standing', () => {
    const { facets } = filterViolations(rows, { ...ANY, category: 'type', state: 'new' });
    expect(facets.category).toEqual({ type: 3 });
    expect(facets.state).toEqual({ new: 3 });
    expect(facets.operation).toEqual({ listIdeas: 1, undocumented: 1, listQuestions: 1 });
    expect(facets.direction).toEqual({ request: 1, response: 2 });
  });
});

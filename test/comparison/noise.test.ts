import { describe, expect, it } from 'vitest';
import { createNoise, formatNoise, parseNoise } from '../../src/comparison/noise.ts';

describe('the file of noise rules', () => {
  const rule = {
    operation: 'listIdeas',
    at: '/list/*/score',
    reason: 'it: counts',
    owner: 'a "team"',
    until: '2026-12-31',
  };

  it('is read as it was written', () => {
    expect(parseNoise(formatNoise([rule]), 'noise.yaml', ['listIdeas'])).toEqual({ rules: [rule], faults: [] });
    expect(parseNoise(formatNoise([]), 'noise.yaml', [])).toEqual({ rules: [], faults: [] });
  });

  it('is rejected with all of its errors', () => {
    const text = `
noise:
  - { operation: listIdea, at: 'list', reason: r, owner: o, until: soon }
  - { operation: listIdeas, at: /list, reason: '', owner: o, until: '2026-02-30', who: me }
  - 5`;
    expect(parseNoise(text, 'noise.yaml', ['listIdeas']).faults.map(({ pointer }) => pointer)).toEqual([
      '/noise/0/operation',
      '/noise/0/at',
      '/noise/0/until',
      '/noise/1/who',
      '/noise/1/reason',
      '/noise/1/until',
      '/noise/2',
    ]);
    const required = [{ source: 'noise.yaml', pointer: '/noise/0/owner', message: 'is required' }];
    const withoutOwner = formatNoise([{ ...rule, owner: '' }]);
    expect(parseNoise(withoutOwner, 'noise.yaml', undefined).faults).toEqual(required);
    expect(parseNoise('- a', 'noise.yaml', []).faults).toHaveLength(1);
  });

  it('reports rules that match nothing, and rules whose last day has passed', () => {
    const past = { ...rule, until: '2026-01-01' };
    const other = { ...rule, at: '/list/*/scores' };
    const noise = createNoise([rule, past, other].toReversed(), Date.parse('2026-06-01'));
    expect(noise.ruleFor('listIdeas', '/list/*/score')).toEqual(rule);
    expect(noise.ruleFor('listArticles', '/list/*/score')).toBeUndefined();
    expect(noise.ruleFor('listIdeas', '/list/*/score/x')).toBeUndefined();
    expect(noise.unused()).toEqual([other]);
    expect(noise.expired).toEqual([past]);
  });

  it('applies on the whole last day', () => {
    const at = (now: string) => createNoise([rule], Date.parse(now)).expired.length;
    expect([at('2026-12-31T23:59:59Z'), at('2027-01-01T00:00:00Z')]).toEqual([0, 1]);
  });
});

import { describe, expect, it } from 'vitest';
import { headText, labelText } from '../../../src/engine/telemetry/metric-families.ts';

describe('the text of samples', () => {
  it('lists labels with their values, the extra one first', () => {
    expect(labelText([], [])).toBe('');
    expect(labelText(['a', 'b'], ['1', '2'])).toBe('{a="1",b="2"}');
    expect(labelText(['a'], ['1'], 'le="5"')).toBe('{le="5",a="1"}');
  });

  it('escapes characters that would end a value or a line', () => {
    expect(labelText(['a'], ['x"y\\z\n'])).toBe(String.raw`{a="x\"y\\z\n"}`);
    expect(headText({ name: 'm', type: 'gauge', labels: [], help: 'a\nb\\c' })).toBe(
      '# HELP m a\\nb\\\\c\n# TYPE m gauge\n',
    );
  });
});

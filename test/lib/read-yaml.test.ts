import { describe, expect, it } from 'vitest';
import { readYaml } from '../../src/lib/read-yaml.ts';

const errorsOf = (text: string) => readYaml(text).errors;

describe('a YAML text', () => {
  it('is read with its document and lines', () => {
    const reading = readYaml('a: 1\nb: [x]\n');
    expect(reading).toMatchObject({ value: { a: 1, b: ['x'] } });
    expect(reading.errors === undefined && reading.lineAt(5)).toBe(2);
  });

  it.each([
    ['a: [1, 2\nb: 3\nc: d: e\n', 2],
    ['a: 1\nb: "x\nc: [\nd: 3\n', 2],
    ['a: b: c\nd: ]\n', 1],
    ['a:\n\tb: 1\n\tc: 1\n', 2],
    ['{"a": 1,,}', 1],
    ['a: 1\nb: *x\n', 2],
  ])('has one error after a mistake in its structure: %j', (text, line) => {
    expect(errorsOf(text)).toEqual([{ line, message: expect.stringMatching(/^(?:has|is|lacks) /) as string }]);
  });

  it('has an error for each key that occurs twice', () => {
    const message = 'has the same key twice';
    expect(errorsOf('a: 1\na: 2\nb: 1\nb: 2\n')).toEqual([
      { line: 2, message },
      { line: 4, message },
    ]);
  });

  it('is never quoted in an error', () => {
    for (const text of [
      'a: "hunter2\n',
      'a: *hunter2\n',
      'a: !hunter2 x\n',
      '%hunter2\n---\n',
      'hunter2: b: c',
      '@hunter2',
    ])
      expect(JSON.stringify(errorsOf(text))).not.toContain('hunter2');
  });
});

import { describe, expect, it } from 'vitest';
import { createSeededRandom } from '../../../src/lib/seeded-random.ts';
import { compilePattern } from '../../../src/engine/scanner/compile-pattern.ts';

/** Runs an automaton on a string, as the module does. */
function accepts(rows: Uint8Array, text: string): boolean {
  let state = 1;
  for (const byte of Buffer.from(text)) {
    state = rows[state * 256 + byte] ?? 0;
    if (state === 0) return false;
  }
  return rows[state * 256] === 1;
}

const PATTERNS = [
  String.raw`^\d{2}/\d{2}/\d{4} \d{2}:\d{2} (AM|PM)$`,
  String.raw`^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}[+-]\d{2}:?\d{2}$`,
  '^[A-Z][a-z]{2} [^ ]{1,16} x$',
  '<[Bb][Rr] ?/?>',
  '^(a|bc)*$',
  '^(?:a+b?){2,3}$',
  'a|^b|c$',
  String.raw`^[\w.-]+@[^@\d]+$`,
  '^[a-c-]*$',
  '^a{2,}b*?$',
  String.raw`^\W\D$`,
  '^.$',
  '^$',
  '',
];

const PARTS = [
  'a',
  'b',
  'c',
  'A',
  'M',
  'P',
  '1',
  '23',
  '/',
  ' ',
  ':',
  '-',
  '.',
  'T',
  '<br>',
  '<BR />',
  'x',
  '@',
  'é',
  '\u{1f600}',
  '\n',
];

describe('a compiled pattern', () => {
  it.each(PATTERNS)('accepts no text that %j does not match, and misses none in ASCII', (source) => {
    const rows = compilePattern(source);
    const pattern = new RegExp(source, 'u');
    const random = createSeededRandom(source.length + 7);
    const texts = Array.from({ length: 2_000 }, () =>
      Array.from({ length: random.integer(0, 8) }, () => random.pick(PARTS)).join(''),
    );
    const known = [
      '11/14/2023 10:13 PM',
      '2023-01-02T03:04:05.678+01:00',
      'Mon CET x',
      'aabaab',
      'aab',
      'é1',
      '+a',
      'a.b@c',
    ];
    for (const text of [...texts, ...known]) {
      if (accepts(rows, text)) expect([source, text, pattern.test(text)]).toEqual([source, text, true]);
      else if (/^\p{ASCII}*$/u.test(text)) expect([source, text, pattern.test(text)]).toEqual([source, text, false]);
    }
  });

  it('accepts characters beyond ASCII where a negated class does', () => {
    expect(accepts(compilePattern('^[^ ]{2}$'), 'é\u{1f600}')).toBe(true);
    expect(accepts(compilePattern('^[^ ]{2}$'), 'é')).toBe(false);
    // Two of the characters outside ASCII are line terminators. The automaton does not distinguish them from the
    // others.
    expect(accepts(compilePattern('^.$'), 'é')).toBe(false);
  });

  it('accepts no text with an escape, because it is not the text that it stands for', () => {
    expect(accepts(compilePattern(String.raw`^[^ ]*$`), String.raw`\u0020`)).toBe(false);
  });

  it.each(
    [
      [
        '^(?=a)b$',
        '(?<!a)b',
        String.raw`^(a)\1$`,
        String.raw`\bword\b`,
        String.raw`^\p{L}+$`,
        String.raw`^\s$`,
        '^(^a)$',
      ],
      ['^a{1,5000}$', '^é$', '(a', 'a)', '[a', 'a**', '^a$b'],
    ].flat(),
  )('is not made of %j', (source) => {
    expect(() => compilePattern(source)).toThrow('the pattern');
  });

  it('is not made of a pattern with too many states', () => {
    expect(() => compilePattern('^(a|b)*a(a|b){12}$')).toThrow('many states');
    expect(() => compilePattern('^((a?){150}){50}$')).toThrow('the long pattern');
  });
});

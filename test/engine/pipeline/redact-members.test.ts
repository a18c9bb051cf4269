import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { redactMembers } from '../../../src/engine/pipeline/redact-members.ts';
import { anyCharacter } from '../../builders/any-text.ts';

const NAMES = new Set(['visibility', 'recipients']);
const redact = (text: string) => redactMembers(Buffer.from(text), NAMES)?.body.toString();

/** JSON values as pieces of text, so that the expected bytes do not come from the code under test. */
type Node =
  | { readonly kind: 'scalar'; readonly text: string }
  | { readonly kind: 'array'; readonly items: readonly Node[] }
  | { readonly kind: 'object'; readonly members: readonly (readonly [key: string, value: Node])[] };

const escaped = (text: string) =>
  Array.from(text, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`).join('');
const plainKeys = ['a', 'b', 'visible', 'visibility2', 'Visibility', '', 'recipient', '__proto__', 'é"'];
const KEYS = [
  ...plainKeys.map((key) => JSON.stringify(key)),
  ...['visibility', 'recipients'].flatMap((name) => [
    `"${name}"`,
    `"${escaped(name)}"`,
    `"${escaped(name.slice(0, 1)).toUpperCase().replace('\\U', '\\u')}${name.slice(1)}"`,
  ]),
  '"\\\\u0076isibility"',
];
const isNamed = (key: string) => NAMES.has(JSON.parse(key) as string);

const scalar = fc
  .oneof(
    fc.constantFrom(
      '1',
      '-0.5e+10',
      '9007199254740993',
      'true',
      'false',
      'null',
      '"visibility"',
      '"\\"recipients\\":1,"',
    ),
    fc.string({ unit: anyCharacter }).map((text) => JSON.stringify(text)),
    fc.double().filter(Number.isFinite).map(String),
  )
  .map((text): Node => ({ kind: 'scalar', text }));
const { tree } = fc.letrec<{ tree: Node }>((tie) => ({
  tree: fc.oneof(
    { depthSize: 'small' },
    scalar,
    fc.array(tie('tree'), { maxLength: 4 }).map((items): Node => ({ kind: 'array', items })),
    fc
      .array(fc.tuple(fc.constantFrom(...KEYS), tie('tree')), { maxLength: 5 })
      .map((members): Node => ({ kind: 'object', members })),
  ),
}));

function without(node: Node): Node {
  if (node.kind === 'scalar') return node;
  if (node.kind === 'array') return { kind: 'array', items: node.items.map((item) => without(item)) };
  const kept = node.members.filter(([key]) => !isNamed(key));
  return { kind: 'object', members: kept.map(([key, value]) => [key, without(value)] as const) };
}

/** Serializes a tree with `space` between all tokens. */
function write(node: Node, space: string): string {
  if (node.kind === 'scalar') return node.text;
  const parts =
    node.kind === 'array'
      ? node.items.map((item) => write(item, space))
      : node.members.map(([key, value]) => `${key}${space}:${space}${write(value, space)}`);
  const inner = parts.length === 0 ? '' : `${space}${parts.join(`${space},${space}`)}${space}`;
  return node.kind === 'array' ? `[${inner}]` : `{${inner}}`;
}

/** Removes the white space between tokens. */
const tight = (text: string) =>
  text.replaceAll(/("(?:[^"\\]|\\.)*")|[ \t\r\n]+/gs, (_, string?: string) => string ?? '');

function prune(value: unknown): unknown {
  if (Array.isArray(value)) return value.map((item: unknown) => prune(item));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([name]) => !NAMES.has(name))
      .map(([name, inner]) => [name, prune(inner)]),
  );
}
const isJson = (text: string) => {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
};

const nested = (depth: number, inside = '') => `${'['.repeat(depth)}${inside}${']'.repeat(depth)}`;

describe('redaction', () => {
  it('leaves every byte unchanged except the removed members', () => {
    fc.assert(
      fc.property(tree, (node) => {
        expect(redact(write(node, ''))).toBe(write(without(node), ''));
      }),
      { numRuns: 500 },
    );
  });

  it('leaves every token unchanged with any white space, and the result is valid JSON', () => {
    fc.assert(
      fc.property(tree, fc.constantFrom(' ', '\n  ', '\t\r\n'), (node, space) => {
        const result = redact(write(node, space)) ?? '';
        expect(tight(result)).toBe(write(without(node), ''));
        expect(() => void JSON.parse(result)).not.toThrow();
      }),
      { numRuns: 500 },
    );
  });

  it('has the same result as removing the members from the parsed value', () => {
    const names = fc.constantFrom('a', 'b', 'visibility', 'recipients', 'id');
    const { value } = fc.letrec((tie) => ({
      value: fc.oneof(
        { depthSize: 'small' },
        fc.integer(),
        fc.string(),
        fc.constant(null),
        fc.array(tie('value')),
        fc.dictionary(names, tie('value')),
      ),
    }));
    fc.assert(
      fc.property(value, fc.constantFrom(0, 2, '\t'), (json, indent) => {
        const result = redact(JSON.stringify(json, undefined, indent));
        expect(JSON.parse(result ?? 'no')).toEqual(prune(JSON.parse(JSON.stringify(json))));
      }),
      { numRuns: 300 },
    );
  });

  it('returns the same buffer if nothing is removed', () => {
    const body = Buffer.from('{"body":"visibility","a":[1,{"b":"\\"recipients\\":"}]}');
    const result = redactMembers(body, NAMES);
    expect(result?.body).toBe(body);
    expect(result?.removed).toEqual([]);
  });

  it('needs no limit on depth or on the number of values', () => {
    const depth = 1_000_000;
    const around = (inside: string) => `${'{"a":['.repeat(depth)}${inside}${']}'.repeat(depth)}`;
    expect(redact(around('{"b":1,"recipients":[{"c":{}}],"d":2}'))).toBe(around('{"b":1,"d":2}'));
    const many = (member: string) => `[${`{"id":1,${member}"b":{}},`.repeat(300_000)}0]`;
    expect(redact(many('"visibility":[],'))).toBe(many(''));
  });

  it.each([
    '\\u0076isibilit',
    '\\u0076isibilityy',
    'visibilit\\u007a',
    'visibilit\\n',
    'recipient\\u00f3',
    'visibilit\\ud83d\\ude00',
  ])('leaves a key that only resembles a name: %s', (key) => {
    const text = `{"${key}":1}`;
    expect(redact(text)).toBe(text);
  });

  it('names each removed member once', () => {
    const result = redactMembers(Buffer.from('[{"recipients":[],"visibility":1},{"recipients":1}]'), NAMES);
    expect(result?.removed).toEqual(['recipients', 'visibility']);
  });

  it.each([
    ['the first member', '{"visibility":1,"a":2}', '{"a":2}'],
    ['a middle member', '{"a":1,"visibility":1,"b":2}', '{"a":1,"b":2}'],
    ['the last member', '{"a":1,"visibility":1}', '{"a":1}'],
    ['the only member', '{"visibility":1}', '{}'],
    ['all members', '{"visibility":1,"recipients":2}', '{}'],
    ['the first two', '{"visibility":1,"recipients":2,"a":3}', '{"a":3}'],
    ['members around a retained one', '{"visibility":1,"a":3,"recipients":2}', '{"a":3}'],
    ['a duplicate member', '{"visibility":1,"a":3,"visibility":2}', '{"a":3}'],
    ['a member with nested members', '{"recipients":[{"visibility":{"a":[]}}],"a":{"visibility":1}}', '{"a":{}}'],
    ['pretty-printed members', '{\n  "visibility": 1,\n  "a": 2,\n  "recipients": []\n}', '{\n  "a": 2\n}'],
    ['a key with escapes', '{"\\u0076isibilit\\u0079":1,"a":2}', '{"a":2}'],
    ['a key with every letter escaped', `{"${escaped('recipients')}":1}`, '{}'],
  ])('removes %s', (_, text, expected) => {
    expect(redact(text)).toBe(expected);
  });

  it('leaves 64-bit integers and unusual but valid numbers and escapes unchanged', () => {
    const rest = '"id":9223372036854775807,"n":1.0E+2,"s":"\\/\\u00e9é","z":-0';
    expect(redact(`{"visibility":"x",${rest}}`)).toBe(`{${rest}}`);
  });

  it('leaves a byte order mark and invalid UTF-8 unchanged', () => {
    const head = Buffer.from([0xef, 0xbb, 0xbf]);
    const odd = Buffer.concat([
      head,
      Buffer.from('{"a":"'),
      Buffer.from([0xff, 0xc3]),
      Buffer.from('","visibility":1}'),
    ]);
    const expected = Buffer.concat([head, Buffer.from('{"a":"'), Buffer.from([0xff, 0xc3]), Buffer.from('"}')]);
    expect(redactMembers(odd, NAMES)?.body.equals(expected)).toBe(true);
  });

  it.each([
    '',
    ' ',
    '{',
    '}',
    '[1,]',
    '{"a":1,}',
    '{,}',
    '{"a"}',
    '{"a":}',
    '{a:1}',
    "{'a':1}",
    '[1 2]',
    '[1}',
    '{"a":1]',
    '1 2',
    '"open',
    '"\\x"',
    '"\\u12g4"',
    '"\\u12',
    '"a\nb"',
    'tru',
    'nul',
    '01',
    '-',
    '+1',
    '1.',
    '.5',
    '1e',
    'NaN',
    '<html>',
    '{"visibility":1',
    '{"visibility":tru,"a":1}',
    '{"a":1}x',
    '\u00a01',
    '// x\n1',
  ])('returns undefined for %j, which is not JSON', (text) => {
    expect(() => void JSON.parse(text)).toThrow();
    expect(redact(text)).toBeUndefined();
  });

  it('accepts a text as JSON exactly when JSON.parse does', () => {
    const unit = fc.constantFrom(
      '{',
      '}',
      '[',
      ']',
      ',',
      ':',
      '"',
      '\\',
      'u0',
      '0',
      '1',
      '-',
      '.',
      'e',
      'true',
      ' ',
      '"a"',
    );
    fc.assert(
      fc.property(fc.string({ unit, maxLength: 8 }), (text) => {
        expect(redact(text) !== undefined).toBe(isJson(text));
      }),
      { numRuns: 3000 },
    );
    const spoiled = fc.tuple(tree, fc.nat(), fc.constantFrom('', '"', ',', '}', ']', '\\', '0'));
    fc.assert(
      fc.property(spoiled, ([node, at, patch]) => {
        const text = write(node, '');
        const cut = at % (text.length + 1);
        const broken = text.slice(0, cut) + patch + text.slice(cut + 1);
        expect(redact(broken) !== undefined).toBe(isJson(broken));
      }),
      { numRuns: 1000 },
    );
  });

  it('reads a text that is nested deeply without a stack overflow, and returns undefined if it is incomplete', () => {
    expect(redact(nested(65, '1'))).toBe(nested(65, '1'));
    expect(redact(nested(1_000_000))).toBe(nested(1_000_000));
    expect(redact('['.repeat(1_000_000))).toBeUndefined();
    expect(redact('{"a":'.repeat(1_000_000))).toBeUndefined();
  });
});

import type { SeededRandom } from '../../src/lib/seeded-random.ts';

type Container = Record<string, unknown> | unknown[];

/** A member or element that a mutation can replace. */
interface Place {
  readonly inside: Container;
  readonly key: string | number;
}

// Marks a string that is written to the JSON unchanged, without quotes.
const RAW = '\u0001';

const RAW_TOKENS = [
  ['1.0', '-0', '0', '1e2', '1E400', '-1e-400', '0.1', '-1', '01', '1.', '.5', '+1', '--1', '1e', 'NaN', 'Infinity'],
  ['9007199254740993', '9223372036854775807', '9223372036854775808', '-9223372036854775809'],
  ['18446744073709551615', '18446744073709551616', '123456789012345678901234567890', '1e99', '1e100'],
  ['tru', 'nul', 'truee', '"\\u0061"', '"\\ud800"', '"\\x"', '"\\u12"', "'a'", '', ' ', '// x', '\ufeff1'],
  ['[[[[[[[[[[]]]]]]]]]]'],
  ['['.repeat(70) + ']'.repeat(70)],
  ['{"a":'.repeat(62) + '1' + '}'.repeat(62)],
  ['{"a":1,"b":2,"a":3}'],
  ['{"__proto__":{"id":1}}'],
].flat();

const VALUES: readonly unknown[] = [
  [null, true, false, 0, -1, 1.5, 1e20, '', 'x', 'é', '\u{1f600}', 'a"b\\c/d', '\u0000\u001f', '\ud800'],
  ['11/14/2023 10:13 PM', '11/14/2023 10:13 pm', '11/14/2023 10:13 ÅM', '2020-01-02 03:04:05.6', 'recipients', 'user'],
  ['Mon Jan 02 03:04:05 ÄST 2006', 'Mon Jan 02 03:04:05 \u{1f600} 2006', 'kbentry', 'FINISHED', 'x'.repeat(300)],
  ['http://legacy.example/1', 'x'.repeat(9) + 'https://legacy.example', 'a: /b', ':', '/', '/:'],
  [[], [1], [null], ['active'], {}, { a: 1 }, { id: 1, author: { username: 'a', zz: [] } }, [[[]]]],
].flat();

const NAMES = [
  ['zz', 'votes', 'flagged', 'é', 'a b', '', '2', '10', 'mail@example.org', '__proto__', 'constructor', 'error'],
  ['errors', 'pageCount', 'totalCount', 'listCount', 'list', 'id', 'author', 'username', 'title', 'quote"', 'tab\t'],
  [
    'http://a',
    'a:',
    '/a',
    'activeRevisionId',
    'actions',
    'recipients',
    'canceled',
    'aVeryLongNameThatNoContractHasEverUsedForAnything',
  ],
].flat();

/** Returns JSON text with up to three mutations of its values. */
export function mutateValues(random: SeededRandom, text: string): Buffer {
  const root = { body: JSON.parse(text) as unknown };
  for (let left = random.integer(0, 3); left > 0; left -= 1) {
    const places = placesIn(root);
    if (places.length > 0) mutateOnce(random, random.pick(places));
  }
  const mutated = JSON.stringify(
    root.body,
    undefined,
    random.chance(0.2) ? random.pick([1, 8, '\t', '\r\n']) : undefined,
  );
  const written = (mutated ?? '').replaceAll(/"\\u0001(\d+)"/g, (_, index: string) => RAW_TOKENS[Number(index)] ?? '');
  return Buffer.from(random.chance(0.1) ? withEscapes(random, written) : written);
}

function placesIn(root: Container): Place[] {
  const places: Place[] = [];
  const visit = (inside: unknown): void => {
    if (typeof inside !== 'object' || inside === null) return;
    for (const key of Object.keys(inside)) {
      places.push({ inside: inside as Container, key });
      visit((inside as Record<string, unknown>)[key]);
    }
  };
  visit(root);
  return places;
}

function mutateOnce(random: SeededRandom, { inside, key }: Place): void {
  const members = inside as Record<string | number, unknown>;
  const choice = random.integer(0, 9);
  if (choice === 0) delete members[key];
  else if (choice === 1) members[key] = RAW + String(random.integer(0, RAW_TOKENS.length - 1));
  else if (choice === 2) members[key] = structuredClone(random.pick(VALUES));
  else if (choice === 3 && Array.isArray(members[key])) repeat(random, members[key]);
  else if (choice === 4) shuffle(random, members);
  else if (!Array.isArray(inside)) addMembers(random, members);
  else inside.push(structuredClone(random.pick(VALUES)));
}

/** Repeats elements, so that lists are longer and several of their items have the same members. */
function repeat(random: SeededRandom, list: unknown[]): void {
  const copies = list.length === 0 ? 0 : random.integer(1, 12);
  for (let left = copies; left > 0; left -= 1) list.push(structuredClone(random.pick(list)));
}

function shuffle(random: SeededRandom, members: Record<string, unknown>): void {
  if (Array.isArray(members)) return;
  const names = Object.keys(members);
  for (const name of random.sample(names, names.length)) {
    const value = members[name];
    delete members[name];
    members[name] = value;
  }
}

function addMembers(random: SeededRandom, members: Record<string, unknown>): void {
  for (let left = random.integer(1, 3); left > 0; left -= 1) {
    const value = random.chance(0.2)
      ? RAW + String(random.integer(0, RAW_TOKENS.length - 1))
      : structuredClone(random.pick(VALUES));
    Object.defineProperty(members, random.pick(NAMES), { value, enumerable: true, configurable: true, writable: true });
  }
}

/** Replaces some letters and slashes with escapes, including those in names. */
function withEscapes(random: SeededRandom, text: string): string {
  return text.replaceAll(/[a-z/é]/g, (character) => {
    if (!random.chance(0.02)) return character;
    return character === '/' ? String.raw`\/` : String.raw`\u` + character.charCodeAt(0).toString(16).padStart(4, '0');
  });
}

const SPECIAL = Buffer.from('{}[]",:\\ \n\t\r019-+.eEtfnulsa/\u0000\u001f\u007f');
const ODD_BYTES = [
  [[0xff], [0xc0, 0x80], [0xed, 0xa0, 0x80], [0xf4, 0x90, 0x80, 0x80], [0xe2, 0x82], [0x80], [0xc3, 0xa9], [0xc3]],
  [
    [0xf0, 0x9f, 0x98, 0x80],
    [0xef, 0xbb, 0xbf],
    [0xe2, 0x80, 0xa8],
    [0xc2, 0xa0],
  ],
]
  .flat()
  .map((bytes) => Buffer.from(bytes));

/** Returns a document with one to three mutated bytes. */
export function mutateBytes(random: SeededRandom, text: Buffer): Buffer {
  let bytes = text;
  for (let left = random.integer(1, 3); left > 0; left -= 1) bytes = mutateByte(random, bytes);
  return bytes;
}

function mutateByte(random: SeededRandom, bytes: Buffer): Buffer {
  const at = random.integer(0, Math.max(0, bytes.length - 1));
  const before = bytes.subarray(0, at);
  const special = Buffer.from([random.pick([...SPECIAL])]);
  switch (random.integer(0, 6)) {
    case 0:
      return Buffer.concat([before, special, bytes.subarray(at + 1)]);
    case 1:
      return Buffer.concat([before, bytes.subarray(at + random.integer(1, 4))]);
    case 2:
      return Buffer.concat([before, special, bytes.subarray(at)]);
    case 3:
      return Buffer.concat([before, random.pick(ODD_BYTES), bytes.subarray(at)]);
    case 4:
      return random.chance(0.2) ? before : Buffer.concat([bytes, special]);
    case 5: {
      // Repeats part of the document, often a member or an element.
      const from = bytes.lastIndexOf(0x2c, at);
      const to = bytes.indexOf(0x2c, at + 1);
      return from < 0 || to < 0 ? bytes : Buffer.concat([bytes.subarray(0, to), bytes.subarray(from)]);
    }
    default:
      bytes[at] = random.integer(0, 255);
      return bytes;
  }
}

import { questionPage } from '../../../bench/pages.ts';

/** A hostile body: a description of its content, and a function that creates it. */
export type HostileBody = readonly [what: string, make: () => Buffer];

const many = <Made>(count: number, make: (at: number) => Made) => Array.from({ length: count }, (_, at) => make(at));
const names = (count: number, name: (at: number) => string) =>
  Object.fromEntries(many(count, (at) => [name(at), at] as const));

type Page = { readonly list: readonly [Readonly<Record<string, unknown>>] } & Readonly<Record<string, unknown>>;
const PAGE = JSON.parse(questionPage('2k').toString()) as Page;
const [ITEM] = PAGE.list;

function page(list: readonly unknown[]): string {
  const { length } = list;
  return JSON.stringify({ ...PAGE, list, listCount: length, totalCount: length, pageCount: 1, pageSize: length });
}

/** Returns a page with a single item. The text is inserted into the item's `body` without being escaped. */
function pageWith(text: string): string {
  return page([{ ...ITEM, body: 'TEXT' }]).replace('"TEXT"', () => `"${text}"`);
}

/** The limit on values that the hostile bodies are made for (`upstream.maxJsonValues`). */
export const MAX_VALUES = 50_000;
/** Slightly fewer values than the limit allows. */
const VALUES = MAX_VALUES - 1000;
/** Slightly fewer escapes than the limit allows. */
const ESCAPES = 790_000;

/**
 * Returns bodies of up to `size` bytes that take a long time to decode, parse, validate, describe or search. Some
 * exceed the limits on values and depth; others stay just below them.
 */
export function hostileBodies(size: number): readonly HostileBody[] {
  const room = size - 8000;
  const texts: readonly (readonly [string, () => string | Buffer])[] = [
    ['a valid page of this size', () => page(many(700, () => ({ ...ITEM, body: 'x'.repeat(room / 700 - 2500) })))],
    ['as many items as fit', () => page(many(size / 2500, () => ITEM))],
    ['a long text', () => pageWith('x'.repeat(room))],
    ['a long text of two-byte characters', () => pageWith('é'.repeat(room / 2))],
    ['a long text of four-byte characters', () => pageWith('😀'.repeat(room / 4))],
    ['a text of escaped quotes', () => pageWith('\\"'.repeat(ESCAPES))],
    ['a text of escaped characters', () => pageWith('\\u00e9'.repeat(ESCAPES))],
    ['escapes that are spread over a long text', () => pageWith(`${'x'.repeat(30)}\\n`.repeat(room / 32))],
    ['the beginnings of addresses', () => pageWith('http://'.repeat(room / 7))],
    ['an error message of this size', () => JSON.stringify({ error: 'x'.repeat(room) })],
    ['items that are all invalid', () => page(many(3000, () => ({ id: 'x', type: 1, author: [] })))],
    ['items of other types', () => page(many(9000, (at) => (at % 2 === 0 ? 'x' : null)))],
    ['unknown names', () => JSON.stringify(names(40_000, (at) => `unknownField${at}`))],
    ['unknown names in an item', () => page([names(40_000, (at) => `unknownField${at}`)])],
    ['unknown names in all items', () => page(many(700, (item) => names(60, (at) => `f${item}x${at}`)))],
    ['long unknown names', () => page([names(8000, (at) => `${'k'.repeat(900)}${at}`)])],
    ['names that look secret', () => page([names(40_000, (at) => `key${at}@example.org`)])],
    ['random names', () => page([names(40_000, (at) => `a${(at * 7919) % 99_991}Zq${at}xK`)])],
    ['names that look like indices', () => JSON.stringify(names(VALUES, (at) => String((at * 7919) % 4_000_000_000)))],
    ['one name many times', () => `{${'"a":1,'.repeat(VALUES)}"a":1}`],
    ['an inherited name many times', () => `{${'"__proto__":1,'.repeat(VALUES)}"a":1}`],
    ['a name of this size', () => `{"${'k'.repeat(room)}":1}`],
    ['nesting up to the limit', () => `${'{"a":['.repeat(30)}1${']}'.repeat(30)}`],
    ['nesting far beyond the limit', () => '[{"a":'.repeat(room / 6)],
    ['small numbers beyond the limit', () => `[${'1,'.repeat(room / 2)}1]`],
    ['small numbers', () => `[${'1,'.repeat(VALUES)}1]`],
    ['fractions', () => `[${'1.2345678901234567e-300,'.repeat(VALUES)}1]`],
    ['a number of millions of digits', () => `{"id":${'9'.repeat(3_000_000)}}`],
    ['white space', () => `${' '.repeat(3_000_000)}{}`],
    ['bytes that are not UTF-8', () => Buffer.alloc(room, 0xff)],
    [
      'a text that is not UTF-8',
      () => Buffer.concat([Buffer.from('{"a":"'), Buffer.alloc(room, 0xfe), Buffer.from('"}')]),
    ],
    ['zeros', () => Buffer.alloc(room)],
    ['HTML comments', () => '<!--x-->'.repeat(room / 8)],
  ];
  return texts.map(([what, make]) => [what, () => Buffer.from(make() as string)] as const);
}

/** Returns uploads of up to `size` bytes whose CSV takes a long time to read. */
export function hostileUploads(size: number): readonly HostileBody[] {
  const room = size / 2;
  const texts: readonly (readonly [string, () => string])[] = [
    ['rows', () => 'username\n'.padEnd(room, 'x\n')],
    ['as many rows as are allowed', () => `username\n${`${'x'.repeat(room / 10_000 - 1)}\n`.repeat(9999)}`],
    ['quotes', () => `username\n"${'""'.repeat(room / 2)}"`],
    ['one cell', () => `username\n${'x'.repeat(room)}`],
    ['cells in one row', () => `username\n${','.repeat(room)}`],
    ['cells in all rows', () => `username\n${`${','.repeat(room / 9000 - 1)}\n`.repeat(9000)}`],
    ['cells in the header', () => ','.repeat(room)],
    ['empty rows', () => `username\n${'\n'.repeat(room)}x`],
    ['misplaced quotes', () => 'username\n'.padEnd(room, '"a"b\n')],
  ];
  return texts.map(([what, make]) => [what, () => Buffer.from(JSON.stringify({ content: make() }))] as const);
}

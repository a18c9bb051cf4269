import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { codedEtag, createAcceptedCodings, etagOf, notModified } from '../../../src/engine/cache/representation.ts';
import { flatText, heldMemory } from '../../builders/held-memory.ts';

describe('an entity tag', () => {
  it('is strong and quoted', () => {
    expect(etagOf(Buffer.from('{}'))).toMatch(/^"[A-Za-z0-9_-]{22}"$/);
  });

  it('is the same for the same bytes only', () => {
    expect(etagOf(Buffer.from('{}'))).toBe(etagOf(Buffer.from('{}')));
    expect(etagOf(Buffer.from('{}'))).not.toBe(etagOf(Buffer.from('{ }')));
  });
});

describe('the entity tag of the gzip form', () => {
  it('is a different strong tag, which If-None-Match can contain', () => {
    const plain = etagOf(Buffer.from('body'));
    const form = codedEtag(plain, 'gzip');
    expect(form).toMatch(/^"[\w-]+-gzip"$/);
    expect(form).not.toBe(plain);
    expect([notModified(form, form), notModified(form, plain), notModified(plain, form)]).toEqual([true, false, false]);
  });

  it('differs for different bodies', () => {
    expect(codedEtag('"a"', 'gzip')).toBe('"a-gzip"');
    expect(codedEtag(etagOf(Buffer.from('a')), 'gzip')).not.toBe(codedEtag(etagOf(Buffer.from('b')), 'gzip'));
  });
});

describe('If-None-Match', () => {
  it.each(['"x"', 'W/"x"', '"a", "x"', '"a","x" , "b"', '*', ' * ', ',, "x"', '"a,b", "x"', 'W/"a",\tW/"x"'])(
    'matches the tag "x" with %s',
    (field) => expect(notModified(field, '"x"')).toBe(true),
  );

  it.each(['', '"y"', 'x', '"x', '"y", *', '"a, "x"', '"X"', 'w/"x"', '"a" "x"', '"a,"x""', ','])(
    'does not match the tag "x" with %s',
    (field) => expect(notModified(field, '"x"')).toBe(false),
  );

  it('compares weakly on both sides', () => {
    expect(notModified('"x"', 'W/"x"')).toBe(true);
  });

  it('may contain a comma inside a tag', () => {
    expect(notModified('"a,"', '"a,"')).toBe(true);
    expect(notModified('"a,x"', '"x"')).toBe(false);
  });

  it('is ignored above 8 kB', () => {
    expect(notModified(`${'"a", '.repeat(2000)}"x"`, '"x"')).toBe(false);
    expect(notModified(`${'"a", '.repeat(1000)}"x"`, '"x"')).toBe(true);
  });

  it('matches exactly the tags in a list', () => {
    const opaque = fc.string({ unit: fc.constantFrom('a', 'b', ',', ' ', 'W', '/', '*').filter((c) => c !== ' ') });
    const tag = opaque.map((inner) => `"${inner}"`);
    const written = fc.tuple(tag, fc.boolean()).map(([one, weak]) => ({ one, field: weak ? `W/${one}` : one }));
    const separator = fc.constantFrom(',', ', ', ' ,', ',\t', ',,');
    fc.assert(
      fc.property(fc.array(written, { minLength: 1 }), separator, tag, (list, between, asked) => {
        const field = list.map((member) => member.field).join(between);
        expect(notModified(field, asked)).toBe(list.some(({ one }) => one === asked));
      }),
    );
  });
});

function acceptsGzip() {
  const codings = createAcceptedCodings();
  return (text: string | undefined) => codings(text).includes('gzip');
}

it.each([
  ['gzip, zstd', ['zstd', 'gzip']],
  ['gzip, deflate, br, zstd', ['zstd', 'gzip']],
  ['*', ['gzip']],
  ['zstd;q=0.1, *', ['gzip', 'zstd']],
  ['zstd;q=0.5, gzip;q=0.8', ['gzip', 'zstd']],
  ['gzip, zstd;q=0', ['gzip']],
  ['ZSTD', ['zstd']],
  ['zstdx, x-zstd', []],
  ['identity', []],
])('Accept-Encoding: %s accepts %j, the preferred coding first', (text, codings) => {
  expect(createAcceptedCodings()(text)).toEqual(codings);
});

describe('a client accepts gzip', () => {
  const YES = [
    'gzip',
    'GZIP',
    'x-gzip',
    'gzip, deflate, br',
    'br;q=1.0, gzip;q=0.8, *;q=0.1',
    'deflate,gzip;q=0.001',
    ' gzip ; q=0.5 ',
    'gzip;Q=1.000',
    '*',
    'br, *;q=0.5',
    '*;q=0, gzip',
    'identity, gzip',
  ];
  const NO = [
    '',
    'identity',
    'br, deflate',
    'gzip;q=0',
    'gzip;q=0.000',
    'gzip;q=0., br',
    'gzip;q=0, *',
    '*, gzip;q=0',
    '*;q=0',
    'gzipped',
    'xgzip',
    'x-gzipp',
    'gzip;level=1',
    'gzip q=1',
    'not gzip',
    ',,,',
  ];

  const accepts = acceptsGzip();

  it.each(YES)('with Accept-Encoding: %s', (text) => {
    expect(accepts(text)).toBe(true);
    expect(accepts(text)).toBe(true);
  });

  it.each(NO)('and not with Accept-Encoding: %s', (text) => {
    expect(accepts(text)).toBe(false);
    expect(accepts(text)).toBe(false);
  });

  it('never without the header', () => {
    expect(accepts(undefined)).toBe(false);
  });

  it('never with an overlong header', () => {
    expect(accepts(`gzip,${' '.repeat(994)}`)).toBe(true);
    expect(accepts(`gzip,${' '.repeat(996)}`)).toBe(false);
  });

  // Without a limit, a client that sends a different value with each request could exhaust the memory.
  it('without memory that grows with every distinct value', async () => {
    const many = acceptsGzip();
    const held = await heldMemory(() => {
      for (let number = 0; number < 20_000; number += 1) many(flatText(number));
    });
    expect(held).toBeLessThan(5_000_000);
    expect(many('gzip')).toBe(true);
  });

  it('consistently, even after more values than are cached', () => {
    const many = acceptsGzip();
    for (let number = 0; number < 500; number += 1) {
      expect(many(`gzip;q=0, x${number}`)).toBe(false);
      expect(many(`gzip, x${number}`)).toBe(true);
    }
    for (const text of YES) expect(many(text)).toBe(true);
    for (const text of NO) expect(many(text)).toBe(false);
  });
});

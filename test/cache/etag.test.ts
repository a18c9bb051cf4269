import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { etagOf, gzipEtag, notModified } from '../../src/cache/etag.ts';

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
    const form = gzipEtag(plain);
    expect(form).toMatch(/^"[\w-]+-gzip"$/);
    expect(form).not.toBe(plain);
    expect([notModified(form, form), notModified(form, plain), notModified(plain, form)]).toEqual([true, false, false]);
  });

  it('differs for different bodies', () => {
    expect(gzipEtag('"a"')).toBe('"a-gzip"');
    expect(gzipEtag(etagOf(Buffer.from('a')))).not.toBe(gzipEtag(etagOf(Buffer.from('b'))));
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

import { describe, expect, it } from 'vitest';
import { etagOf } from '../../src/cache/etag-of.ts';
import { gzipEtag } from '../../src/cache/gzip-etag.ts';
import { notModified } from '../../src/cache/not-modified.ts';

describe('the entity tag of the gzip form', () => {
  it('is a strong one of its own, which If-None-Match can name', () => {
    const plain = etagOf(Buffer.from('body'));
    const form = gzipEtag(plain);
    expect(form).toMatch(/^"[\w-]+-gzip"$/);
    expect(form).not.toBe(plain);
    expect([notModified(form, form), notModified(form, plain), notModified(plain, form)]).toEqual([true, false, false]);
  });

  it('differs where the bodies do', () => {
    expect(gzipEtag('"a"')).toBe('"a-gzip"');
    expect(gzipEtag(etagOf(Buffer.from('a')))).not.toBe(gzipEtag(etagOf(Buffer.from('b'))));
  });
});

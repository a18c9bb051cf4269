import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type CanonicalPage, canonicalTarget, targetWithoutPage } from '../../../src/engine/paging/canonical-target.ts';

describe('canonicalTarget', () => {
  const target = (query: string | undefined, asked: Partial<CanonicalPage> = {}) =>
    canonicalTarget('/l.json', query, {
      page: undefined,
      pageSize: undefined,
      firstPage: 1,
      knownDefaultPageSize: undefined,
      ...asked,
    });

  describe('a canonical target', () => {
    it('is the bare path if the query is absent or empty', () => {
      expect([target(undefined), target(''), target('&&')]).toEqual(['/l.json', '/l.json', '/l.json']);
    });

    it("keeps the client's own encoding and order, byte for byte", () => {
      const query = 'topics=a%2Cb,c&q=two+words*&Q=a%20b&includeOnly=author.username&x=%zz&%zz=1&flag&e=';
      expect(target(query)).toBe(`/l.json?${query}`);
    });

    it('drops empty parts', () => {
      expect(target('&a=1&&b=2&')).toBe('/l.json?a=1&b=2');
    });

    it('is the same for an absent page and the declared first page', () => {
      expect(target('page=1&q=x', { page: 1 })).toBe(target('q=x'));
      expect(target('q=x&page=0', { page: 0, firstPage: 0 })).toBe(target('q=x', { firstPage: 0 }));
      expect(target('page=01', { page: 1 })).toBe('/l.json');
      expect(target('p%61ge=1', { page: 1 })).toBe('/l.json');
    });

    it('distinguishes page 0 from page 1', () => {
      expect(target('page=0', { page: 0 })).toBe('/l.json?page=0');
      expect(target('page=1', { page: 1, firstPage: 0 })).toBe('/l.json?page=1');
    });

    it('omits a page size only if it is the known default', () => {
      expect(target('pageSize=15', { pageSize: 15 })).toBe('/l.json?pageSize=15');
      expect(target('pageSize=15', { pageSize: 15, knownDefaultPageSize: 15 })).toBe('/l.json');
      expect(target('pageSize=16', { pageSize: 16, knownDefaultPageSize: 15 })).toBe('/l.json?pageSize=16');
      expect(target('pageSize=', { knownDefaultPageSize: 15 })).toBe('/l.json?pageSize=');
    });

    it('leaves an empty page size unchanged', () => {
      expect(target('pageSize=')).toBe('/l.json?pageSize=');
      expect(target('page=')).toBe('/l.json?page=');
    });

    it('leaves a repeated parameter unchanged', () => {
      expect(target('page=1&page=2', { page: 1 })).toBe('/l.json?page=1&page=2');
      expect(target('pageSize=1&pageSize=2', { pageSize: 1, knownDefaultPageSize: 1 })).toBe(
        '/l.json?pageSize=1&pageSize=2',
      );
    });

    it('does not mistake other names for page', () => {
      const query = 'Page=1&page1=1&xpage=1&page%20=1';
      expect(target(query, { page: 1 })).toBe(`/l.json?${query}`);
    });

    it('consists of the parts of the query in order, without the omitted ones', () => {
      const piece = fc.constantFrom('', 'a=1', 'page=1', 'pageSize=5', 'q=%20+', 'b', 'topics=x,y');
      fc.assert(
        fc.property(fc.array(piece), (pieces) => {
          const made = target(pieces.join('&'), { page: 1, pageSize: 5, knownDefaultPageSize: 5 });
          const once = (name: string) => pieces.filter((one) => one.startsWith(`${name}=`)).length === 1;
          const kept = pieces.filter(
            (one) => one !== '' && !(one === 'page=1' && once('page')) && !(one === 'pageSize=5' && once('pageSize')),
          );
          expect(made).toBe(kept.length === 0 ? '/l.json' : `/l.json?${kept.join('&')}`);
          const [path = '', query] = made.split('?');
          expect(canonicalTarget(path, query, { page: 1, pageSize: 5, firstPage: 1, knownDefaultPageSize: 5 })).toBe(
            made,
          );
        }),
      );
    });
  });

  describe('a target without its page', () => {
    it('is the same for every page of a list', () => {
      expect(targetWithoutPage('/l.json?page=2&q=x')).toBe('/l.json?q=x');
      expect(targetWithoutPage('/l.json?q=x&page=3')).toBe('/l.json?q=x');
      expect(targetWithoutPage('/l.json?page=3')).toBe('/l.json');
      expect(targetWithoutPage('/l.json')).toBe('/l.json');
    });

    it('still distinguishes filters and sizes', () => {
      expect(targetWithoutPage('/l.json?q=x&pageSize=5')).toBe('/l.json?q=x&pageSize=5');
    });
  });
});

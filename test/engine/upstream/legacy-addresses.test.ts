import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  compileLegacyAddresses,
  createLegacyAddressRewriter,
  createLegacyAddressScan,
  legacyAddressFinder,
  rewriteLegacyAddresses,
  rewriteWholeBody,
} from '../../../src/engine/upstream/legacy-addresses.ts';
import { parseUpstreamUrl } from '../../../src/engine/upstream/upstream-url.ts';

describe('legacy addresses in bodies and headers', () => {
  const PUBLIC = 'https://new.example/p';
  const legacy = compileLegacyAddresses({ origin: 'http://10.0.0.5:8080', basePath: '/qa' }, ['http://old.example']);
  const rewritten = (text: string) => rewriteLegacyAddresses(Buffer.from(text), legacy, PUBLIC).toString();

  describe('absolute addresses of the legacy server', () => {
    it.each([
      ['of the upstream itself', 'http://10.0.0.5:8080/qa/x', `${PUBLIC}/x`],
      ['of a configured origin', 'http://old.example/qa/x?a=b', `${PUBLIC}/x?a=b`],
      ['with the other scheme', 'https://old.example/qa/x', `${PUBLIC}/x`],
      ['with an explicit port', 'http://old.example:80/qa/x', `${PUBLIC}/x`],
      ['in capitals', 'HTTP://OLD.Example/qa/x', `${PUBLIC}/x`],
      ['without a path', 'see http://old.example/qa, or "http://old.example/qa"', `see ${PUBLIC}, or "${PUBLIC}"`],
      ['in JSON with escaped slashes', '"http:\\/\\/old.example\\/qa\\/x"', '"https:\\/\\/new.example\\/p\\/x"'],
      [
        'at the end of a sentence',
        'See http://old.example/qa. Or http://old.example/qa!',
        `See ${PUBLIC}. Or ${PUBLIC}!`,
      ],
      ['before other punctuation', '(http://old.example/qa), http://old.example/qa: x', `(${PUBLIC}), ${PUBLIC}: x`],
      ['before several marks', 'http://old.example/qa... http://old.example/qa?!', `${PUBLIC}... ${PUBLIC}?!`],
      ['before a closing mark', '"http://old.example/qa." *http://old.example/qa*', `"${PUBLIC}." *${PUBLIC}*`],
      [
        'before wide punctuation',
        '“http://old.example/qa” http://old.example/qa… http://old.example/qa。',
        `“${PUBLIC}” ${PUBLIC}… ${PUBLIC}。`,
      ],
      ['in markdown', '`http://old.example/qa` |http://old.example/qa|', `\`${PUBLIC}\` |${PUBLIC}|`],
      [
        'at the end of a sentence in JSON',
        '"See http:\\/\\/old.example\\/qa.\\n"',
        '"See https:\\/\\/new.example\\/p.\\n"',
      ],
      ['without a scheme', '<a href="//old.example/qa/x">', '<a href="//new.example/p/x">'],
      ['without a scheme in JSON', '"\\/\\/old.example\\/qa\\/x"', '"\\/\\/new.example\\/p\\/x"'],
      [
        'without a scheme after an escape',
        '"a\\n//old.example/qa/x \\"//old.example/qa\\""',
        '"a\\n//new.example/p/x \\"//new.example/p\\""',
      ],
      ['without a scheme at the beginning', '//old.example/qa/x', '//new.example/p/x'],
      ['surrounded by other bytes', 'é\u2603http://old.example/qa/é', `é\u2603${PUBLIC}/é`],
    ])('become public ones if they are %s', (_case, text, expected) => {
      expect(rewritten(text)).toBe(expected);
    });

    it.each([
      'http://old.example.evil/qa/x',
      'http://old.example:8080/qa/x',
      'http://old.example@evil/qa/x',
      'http://notold.example/qa/x',
      'http://oldxexample/qa/x',
      'http://old.example/qax',
      'http://old.example/other/x',
      'ftp://old.example/qa/x',
      'http://old.example/qa.json',
      'http://old.example/qa!x',
      'http://old.example.',
      'http://old.example/qa:80',
      'http://old.example:pass@evil/qa',
      'http://old.example/qaé',
      'a//old.example/qa/x',
      'http://other.example//old.example/qa/x',
      '///old.example/qa/x',
      'ws://old.example/qa/x',
    ])('are not found in %s', (text) => {
      expect(rewritten(text)).toBe(text);
    });

    it('are found anywhere on a legacy origin', () => {
      expect(legacyAddressFinder(legacy)(Buffer.from('{"a":"http:\\/\\/old.example\\/avatar.png"}'))).toBe(true);
      expect(legacyAddressFinder(legacy)(Buffer.from('{"a":"http://old.example.evil/"}'))).toBe(false);
    });

    it('are found anywhere in a long body, which is searched in parts', async () => {
      const long = 6 * 1024 * 1024;
      const address = 'http://old.example/';
      // The parts have 256 KiB, so the address spans two of them.
      const places = [0, 262_144 - 3, long - address.length];
      for (const place of places) {
        const body = Buffer.alloc(long, ' ');
        body.write(address, place);
        expect(await legacyAddressFinder(legacy)(body)).toBe(true);
        body.write('new', place + 'http://'.length);
        expect(await legacyAddressFinder(legacy)(body)).toBe(false);
      }
    });

    it('are rewritten after any number of slashes that begin no address of the server', async () => {
      for (const slashes of ['http://x ', 'http:\\/\\/x ', '///'])
        for (const count of [1, 63, 64, 65, 1000]) {
          const before = `${slashes.repeat(count)} `;
          const body = await rewriteWholeBody(Buffer.from(`${before}http://old.example/qa/x`), legacy, PUBLIC);
          expect(body.toString()).toBe(`${before}${PUBLIC}/x`);
        }
    });

    it('leave a body without them unchanged, including bytes that are not text', () => {
      const body = Buffer.from([0, 255, 128, 195, 40, 10]);
      expect(rewriteLegacyAddresses(body, legacy, PUBLIC)).toBe(body);
    });

    const piece = fc.constantFrom(
      'http://old.example/qa',
      'https:\\/\\/old.example\\/qa',
      '//old.example/qa',
      '. ',
      '”',
      'http://old.example',
      'HTTP:\\/\\/OLD.example',
      'http://10.0.0.5:8080/qa/',
      'https://other.example/',
      '/',
      '"',
      'http',
      ':',
      'x',
      'é',
      '\\',
    );
    const cut = fc.tuple(fc.array(piece, { maxLength: 12 }), fc.array(fc.nat(200), { maxLength: 8 }));

    it('are rewritten the same way in one piece and in any chunks', () => {
      fc.assert(
        fc.property(cut, ([pieces, cuts]) => {
          const body = Buffer.from(pieces.join(''));
          const rewriter = createLegacyAddressRewriter(legacy, PUBLIC);
          const sent = [...parts(body, cuts).map((part) => rewriter.part(part)), rewriter.rest()];
          expect(Buffer.concat(sent).toString()).toBe(rewriteLegacyAddresses(body, legacy, PUBLIC).toString());
        }),
      );
    });

    it('are found in any chunks if they are present, and reported once', () => {
      fc.assert(
        fc.property(cut, ([pieces, cuts]) => {
          const body = Buffer.from(`${pieces.join('')} `);
          let found = 0;
          const scan = createLegacyAddressScan(legacy, () => (found += 1));
          parts(body, cuts).forEach(scan);
          if (legacyAddressFinder(legacy)(body)) expect(found).toBe(1);
          else expect(found).toBeLessThanOrEqual(1);
        }),
      );
    });
  });

  function parts(body: Buffer, cuts: readonly number[]): Buffer[] {
    const edges = [0, ...cuts.filter((at) => at < body.length).toSorted((a, b) => a - b), body.length];
    return edges.slice(1).map((end, index) => body.subarray(edges[index], end));
  }
});

describe('the upstream address', () => {
  const place = { source: 'UPSTREAM_URL', pointer: '' };

  describe('the base address of the upstream', () => {
    it.each([
      ['http://qa.example', 'http://qa.example', ''],
      ['https://QA.example:8443/', 'https://qa.example:8443', ''],
      ['http://qa.example:80/real-answers//', 'http://qa.example', '/real-answers'],
      ['http://[::1]:8080/a/b.c/', 'http://[::1]:8080', '/a/b.c'],
      ['http://qa.example/a%20b', 'http://qa.example', '/a%20b'],
    ])('%s is parsed', (text, origin, basePath) => {
      expect(parseUpstreamUrl(text, place)).toEqual({ address: { origin, basePath } });
    });

    it.each([
      ['http://user:secret@qa.example/', 'credentials'],
      ['http://user@qa.example/', 'credentials'],
      ['http://qa.example/?a=b', 'query'],
      ['http://qa.example/?', 'query'],
      ['http://qa.example/#x', 'fragment'],
      ['ftp://qa.example/', 'http:// or https://'],
      ['http://qa.example/a/../b', 'segments'],
      ['http://qa.example/%2e%2E/b', 'segments'],
      ['http://qa.example/a/.', 'segments'],
      ['http://qa.example\\a', 'backslash'],
      ['nonsense', 'absolute URL'],
      ['', 'absolute URL'],
      ['user_1:secret@qa.example', 'absolute URL'],
      ['user@corp:secret@qa.example', 'absolute URL'],
      ['//user:secret@qa.example', 'absolute URL'],
    ])('%s is refused for its %s', (text, word) => {
      const parsed = parseUpstreamUrl(text, place);
      expect(parsed).toEqual({
        faults: [{ ...place, message: expect.stringContaining(word) as string, ...suggestionOf(text) }],
      });
      expect(JSON.stringify(parsed)).not.toContain('secret');
    });

    it('is refused with all configuration errors at once', () => {
      const parsed = parseUpstreamUrl('ftp://a@qa.example/../b?c#d', place);
      expect('faults' in parsed && parsed.faults).toHaveLength(5);
    });
  });

  function suggestionOf(text: string): { suggestion?: string } {
    return text === 'nonsense' ? { suggestion: 'http://nonsense' } : {};
  }
});

// The attack: one body consists of hundreds of thousands of addresses, and all other requests have to wait while the
// addresses are rewritten.
describe('a long body', () => {
  const address = 'http://legacy.example/community/a ';
  const legacy = compileLegacyAddresses({ origin: 'http://legacy.example', basePath: '/community' }, []);

  it('is rewritten in parts with turns of the event loop in between, with the same result', async () => {
    const body = Buffer.from(address.repeat(60_000));
    let turns = 0;
    let isDone = false;
    const count = () => {
      turns += 1;
      if (!isDone) setImmediate(count);
    };
    setImmediate(count);
    const rewritten = await rewriteWholeBody(body, legacy, 'https://qa.example');
    isDone = true;
    expect(rewritten.equals(rewriteLegacyAddresses(body, legacy, 'https://qa.example'))).toBe(true);
    expect(turns).toBeGreaterThanOrEqual(7);
  });

  it('is otherwise rewritten at once', () => {
    const body = Buffer.from(address);
    expect(Buffer.isBuffer(rewriteWholeBody(body, legacy, 'https://qa.example'))).toBe(true);
  });

  it('is returned itself if it contains no address', async () => {
    for (const text of ['no address ', 'http://lost.example/a '])
      for (const times of [1, 60_000]) {
        const body = Buffer.from(text.repeat(times));
        expect(await rewriteWholeBody(body, legacy, 'https://qa.example')).toBe(body);
      }
  });
});

import * as fc from 'fast-check';

/**
 * Any character except surrogates. The `binary` unit of fast-check covers the same characters, but builds a table of
 * all 1.1 million of them.
 */
export const anyCharacter = fc
  .integer({ min: 0, max: 0x10_f7ff })
  .map((index) => String.fromCodePoint(index < 0xd800 ? index : index + 0x800));

/** The query of a URL, without the question mark. It may contain any percent-encoded character. */
export const anyQuery = fc.string({
  unit: fc.oneof(
    { weight: 4, arbitrary: fc.constantFrom(..."abcXYZ019-._~!$&'()*+,;=:@/?".split('')) },
    { weight: 1, arbitrary: anyCharacter.map(encodeURIComponent) },
  ),
});

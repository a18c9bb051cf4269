import { describe, expect, it } from 'vitest';
import { canonicalName, nameKeyFor } from '../../../src/engine/model/caller-name.ts';

describe('canonicalName', () => {
  it.each([
    ['low', 'low'],
    ['LOW', 'low'],
    [' Low\u00a0', 'low'],
    ['ｌｏｗ', 'low'],
    ['lo\u200bw', 'low'],
    ['\ufeffl\u00adow', 'low'],
    ['anna   lena', 'anna lena'],
    ['Anna\u2003Lena ', 'anna lena'],
    ['JOSE\u0301', 'josé'],
    ['STRASSE', 'strasse'],
    ['straße', 'strasse'],
    ['ΟΔΥΣΣΕΥΣ', 'οδυσσευς'],
    ['οδυσσευσ', 'οδυσσευς'],
    ['ADMİN', 'admin'],
    ['admın', 'admin'],
    ['\u212Aim', 'kim'],
    ['ﬁnn', 'finn'],
    ['', ''],
  ])('turns %j into %j', (name, expected) => {
    expect(canonicalName(name)).toBe(expected);
  });

  it('keeps names apart that no server treats as the same', () => {
    const names = ['low', 'lew', 'low1', 'l.ow', 'l-ow', 'lo_w', 'josé', 'jose', 'anna lena', 'annalena'];
    expect(new Set(names.map(canonicalName)).size).toBe(names.length);
  });

  it('is stable, and the same for every case and Unicode form of every character', () => {
    const wrong: string[] = [];
    for (let code = 0x20; code <= 0x1ffff; code += 1) {
      if (code >= 0xd800 && code <= 0xdfff) continue;
      const name = `x${String.fromCodePoint(code)}y`;
      const canonical = canonicalName(name);
      const spellings = [
        canonical,
        name.toUpperCase(),
        name.toLowerCase(),
        ...['NFC', 'NFD', 'NFKC', 'NFKD'].map((form) => name.normalize(form)),
        ` ${name}`,
      ];
      if (spellings.some((spelling) => canonicalName(spelling) !== canonical)) wrong.push(code.toString(16));
    }
    expect(wrong).toEqual([]);
  });
});

describe('nameKeyFor', () => {
  it('distinguishes every spelling under exact', () => {
    const key = nameKeyFor('exact');
    expect(key('LOW')).toBe('LOW');
    expect(key(' low')).toBe(' low');
  });

  it('ignores case under ignoreCase, but no other difference', () => {
    const key = nameKeyFor('ignoreCase');
    expect(key('LOW')).toBe(key('low'));
    expect(key('JOSE\u0301')).toBe(key('josé'));
    for (const other of [' low', 'low ', 'ｌｏｗ', 'lo\u200bw', 'l ow']) expect(key(other)).not.toBe(key('low'));
  });
});

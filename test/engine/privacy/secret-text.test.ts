import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { describe, expect, it } from 'vitest';
import { containsCredential, isSecretSetting, looksRandom } from '../../../src/engine/privacy/secret-text.ts';
import { mayShow } from '../../../src/engine/privacy/shown-text.ts';
import { createSeededRandom } from '../../../src/lib/seeded-random.ts';

const SMALL = 'abcdefghijklmnopqrstuvwxyz';
const LETTERS = SMALL.toUpperCase() + SMALL;
const BASE62 = `${LETTERS}0123456789`;
const SAMPLES = 5_000;

/** Returns how many pseudorandom strings are considered harmless. Every run uses the same strings. */
function missed(alphabet: string, size: number): number {
  const random = createSeededRandom(size);
  const ofAlphabet = alphabet.split('');
  let harmless = 0;
  for (let sample = 0; sample < SAMPLES; sample++) {
    let text = '';
    while (text.length < size) text += random.pick(ofAlphabet);
    if (mayShow(text)) harmless += 1;
  }
  return harmless;
}

describe('random texts', () => {
  it.each([
    ['letters and digits', BASE62, 24, 1],
    ['shorter texts of letters and digits', BASE62, 16, 10],
    ['the alphabet of base64url', `${BASE62}-_`, 32, 1],
    ['letters', LETTERS, 32, 1],
    ['lowercase letters', SMALL, 32, 1],
    ['shorter texts of lowercase letters', SMALL, 16, 50],
    ['the alphabet of base32', `${SMALL.toUpperCase()}234567`, 26, 1],
    ['hexadecimal digits', '0123456789abcdef', 16, 1],
  ])('of %s are distinguished from names with few exceptions', (_, alphabet, size, atMost) => {
    expect(missed(alphabet, size)).toBeLessThanOrEqual(atMost);
  });

  it.each([
    'a7BXFDWdZsqmmxwnDTEGZeWrcfxx4',
    'YWxpY2U6c2VjcmV0',
    'key_dGhpcyBpcyBub3Q',
    'JBSWY3DPEHPK3PXP',
    'xkqzvjwpgh',
  ])('are distinguished from names: %s', (text) => {
    expect(looksRandom(text)).toBe(true);
  });
});

describe('names', () => {
  it('of all fields, parameters and operations in the contract do not count as random', () => {
    const names = namesOf(parse(readFileSync(new URL('../../../schemas/openapi.yaml', import.meta.url), 'utf8')));
    expect(names.size).toBeGreaterThan(300);
    expect([...names].filter((name) => !mayShow(name))).toEqual([]);
  });

  it.each([
    'byteLength',
    'weekOfYear',
    'acknowledgment',
    'lengthOfStrengths',
    'isAllowedToEditOrDelete',
    'getElementById',
    'updateAgeOnGet',
    'thumbnail128x128Url',
    'SITE_ADMINISTRATION_ENABLED',
    'xmlHttpRequestBody',
    'mitgliedsbeschreibung',
    'nombreDeUsuario',
    'col_2_row_3_cell_4_item_5_of_6',
    'portico_contract_violations_total',
  ])('chosen by people do not count as random: %s', (name) => {
    expect(looksRandom(name)).toBe(false);
  });

  it('shorter than ten characters never count as random, because they have too few letter pairs', () => {
    expect(looksRandom('xQ7zK9vJw')).toBe(false);
    expect(looksRandom('xQ7zK_9vJw')).toBe(false);
    expect(looksRandom('xQ7zK9vJwP')).toBe(true);
  });
});

/** Returns the names in a document, and all strings in it that consist of a single word. */
function namesOf(value: unknown, found = new Set<string>()): ReadonlySet<string> {
  if (typeof value === 'string' && /^[\w.-]+$/.test(value)) found.add(value);
  if (typeof value !== 'object' || value === null) return found;
  for (const [key, inner] of Object.entries(value)) {
    if (key === 'examples' || key === 'example') continue;
    found.add(key);
    namesOf(inner, found);
  }
  return found;
}

it('an email address or a name with a password is found in Base64 text', () => {
  for (const text of ['jana.novak@example.org', 'jana:geheim'])
    expect(containsCredential(Buffer.from(text).toString('base64'))).toBe(true);
  expect(containsCredential('questionTitleFormatted')).toBe(false);
});

it.each([
  ['adminToken', true],
  ['adminTokenFile', false],
  ['upstream.password', true],
  ['upstream.passwordEnv', false],
  ['redis.password', true],
])('whether the setting %s is a secret: %s', (key, isSecret) => {
  expect(isSecretSetting(key, 'x')).toBe(isSecret);
});

it.each([
  ['redis://127.0.0.1:6379', false],
  ['rediss://redis.example/2', false],
  ['redis://user@redis.example', true],
  ['redis://:planted@redis.example', true],
  ['redis://user:planted@redis.example/0', true],
  ['redis://user:pl@nted@bad host', true],
  [undefined, false],
])('an address is a secret only if it contains a user or a password: %s', (address, isSecret) => {
  expect(isSecretSetting('redis.url', address)).toBe(isSecret);
});

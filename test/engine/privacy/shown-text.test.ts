import { describe, expect, it } from 'vitest';
import { isFieldName, isWord, plainName, plainParameter } from '../../../src/engine/privacy/shown-name.ts';
import { isHarmlessId, mayShow, shownText } from '../../../src/engine/privacy/shown-text.ts';
import { placeText } from '../../../src/engine/privacy/path-text.ts';

describe('text that may not be shown', () => {
  it.each([
    'alice@example.org',
    'alice%40example.org',
    'the text bob.smith@mail.example is here',
    'eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9',
    'sk_live_4eC39HqLyjWDarjtT1zdp7dc',
    'ghp_16C7e42F292c6912E7710c838347Ae178B4a',
    '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b',
    '3fa85f64-5717-4562-b3fc-2c963f66afa6',
    'Basic YWxpY2U6c2VjcmV0',
    'Bearer abc.def-ghi',
    '71234567890123',
    'tel_030_1234_567',
    '_4111_1111_1111_1111',
    '4111-1111.1111--1111',
    'DE89_3704_0044_0532_0130_00',
    'ssn_078_05_1120',
    'ip_203_0_113_9',
    'from-10.0.0.1',
    'aB3xK9pQ7mZ2wL5v',
    'x=7h2k9d8s4j6q1w',
    // These strings can be recognized as secrets only by their form, because none of them is random.
    'eyJandthenaword',
    'sk_live_andthenawordofletters',
    'facade00-dead-beef-cafe-facadefacade',
    'deadbeef-dead-beef-dead-beefdeadbeef',
    'decade_facadedecadefacadedecadeface',
  ])('is detected: %s', (text) => {
    expect(mayShow(text)).toBe(false);
  });

  it.each([
    '',
    'colour',
    'bountyExpiresAt',
    'creationDateFormatted',
    'awardedByUserIds',
    'X-Forwarded-For',
    'list/*/originalParentId',
    'avatar48x48Url',
    'unanswered2026',
    'changed_2026_05_04',
    'in the form 2019-02-06 15:01:00.0',
    'version 1.6.3.5',
    'row_1_column_2_of_10',
    'must be one of question, answer, idea, kbentry',
    'text of 12 characters in the form of an address',
    'must have at most 100000 items',
    '#/properties/list/items/properties/id/type',
    'issueTrackerConfigurationIdentifier',
    'portico:/schemas/listQuestions.200.json',
  ])('does not include: %s', (text) => {
    expect(mayShow(text)).toBe(true);
  });

  // A client must not be able to slow down the search by sending a long string. Without a limit, searching these
  // strings would take a quarter of an hour.
  it.each(['a', '9f', '%', 'a1B'])('is searched for in a long text in a single pass: %s', (part) => {
    expect(mayShow(`${part.repeat(1_000_000)} bob@mail.example`)).toBe(false);
  });
});

/*
 * The attack: a client or a drifting server sends a secret in place of a name, and the secret can then be read in the
 * ledger, a report or a log. Two places once used two different lists of key prefixes, so a key hidden in one was
 * visible in the other.
 *
 * These strings can be recognized as secrets only by their prefix, because none of them is random.
 */
const KEYS = [
  'sk_andthenaword',
  'pk_andthenaword',
  'rk_andthenaword',
  'ghp_andthenaword',
  'gho_andthenaword',
  'github_pat_andthenaword',
  'glpat_andthenaword',
  'xoxb_andthenaword',
  'whsec_andthenaword',
  'npm_andthenaword',
  'shpat_andthenaword',
  'dop_v1_andthenaword',
  'AKIAandthenaword',
  'ASIAandthenaword',
  'AIzaandthenawordandthena',
  'eyJandthenaword',
];

describe("a key with a service's prefix", () => {
  it.each(KEYS)('is never repeated: %s', (key) => {
    expect(mayShow(key)).toBe(false);
    expect(shownText(`in the form of ${key}`)).toBeUndefined();
    expect(isHarmlessId(key)).toBe(false);
    expect(plainName(key)).toBe('?');
    expect(plainParameter(key)).toBe('');
    expect(isFieldName(key)).toBe(false);
    expect(isWord(key)).toBe(false);
    expect(placeText(`/list/0/${key}`)).toBe('/list/*/?');
  });
});

describe('personal data', () => {
  it.each([
    'bob@mail.example',
    'bob%40mail.example',
    'bob%2540mail.example',
    'bob=40mail.example',
    '192.0.2.17',
    '2001:db8:0:0:1::7',
    'fe80::1',
    '+49-170-1234567',
    'tel:0170-123456',
    '4111-1111-1111-1111',
    '078-051-1120',
    'DE89-3704-0044-0532-0130-00',
    'YWxpY2U6c2VjcmV0',
  ])('is repeated neither in an id nor in a text: %s', (text) => {
    expect(isHarmlessId(text)).toBe(false);
    expect(mayShow(text)).toBe(false);
    expect(mayShow(`this is ${text} here`)).toBe(false);
  });

  it.each(['+49 170 1234567', '4111 1111 1111 1111', 'DE89 3704 0044 0532 0130 00', 'password=letmein'])(
    'is not shown in free text: %s',
    (text) => {
      expect(mayShow(`this is ${text}`)).toBe(false);
    },
  );
});

describe("a finding's text", () => {
  it('is shown, cut to 300 characters', () => {
    expect(shownText(undefined)).toBeUndefined();
    expect(shownText('must be a number')).toBe('must be a number');
    expect(shownText('ab '.repeat(200))).toHaveLength(300);
  });
});

const UUID = '76ce7207-4904-4698-9129-ed0c98d97fc6';

describe("a client's request id", () => {
  it.each([
    '3fa85f64-5717-4562-b3fc-2c963f66afa6',
    // Part of this id consists of groups of four digits, like a payment card number.
    UUID,
    // The same without dashes, as some programs write it.
    UUID.replaceAll('-', ''),
    '9F86D081884C7D659A2FEAA0C55AD015',
    '01J9ZC3QF5M2N8T7V4W6X1Y0AB',
    'req-2026-11-21-0001',
    '2026-11-21T10:00:00Z-7',
  ])('is repeated if it is valid: %s', (id) => {
    expect(isHarmlessId(id)).toBe(true);
  });

  it.each(['eyJhbGciOiJIUzI1NiJ9', '4111-1111-1111-1111'])(
    'is not repeated if it contains something else beside a UUID: %s',
    (secret) => {
      for (const id of [`${secret}-${UUID}`, `${UUID}-${secret}`, `${secret}:${UUID}:${secret}`])
        expect(isHarmlessId(id)).toBe(false);
    },
  );

  it.each([
    '4111-1111-1111-1111',
    '+49-170-1234567',
    '192.0.2.17',
    '8.8.8.8',
    '2001:db8::7',
    'Basic:YWxpY2U6c2VjcmV0',
    'YWxpY2U6c2VjcmV0',
    'a-eyJhbGc_IUzI1Ni',
    'x'.repeat(129),
    '',
  ])('is not repeated if it may be something else: %s', (id) => {
    expect(isHarmlessId(id)).toBe(false);
  });
});

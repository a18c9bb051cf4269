import { describe, expect, it } from 'vitest';
import { looksSecret } from '../../src/lib/looks-secret.ts';

describe('what looks like a secret', () => {
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
    // By their form alone: nothing in them is random.
    'eyJandthenaword',
    'sk_live_andthenawordofletters',
    'facade00-dead-beef-cafe-facadefacade',
    'deadbeef-dead-beef-dead-beefdeadbeef',
    'decade_facadedecadefacadedecadeface',
  ])('is found: %s', (text) => {
    expect(looksSecret(text)).toBe(true);
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
    'must NOT have more than 100000 items',
    '#/properties/list/items/properties/id/type',
    'issueTrackerConfigurationIdentifier',
    'https://portico.invalid/schemas/listQuestions.200.json',
  ])('is not: %s', (text) => {
    expect(looksSecret(text)).toBe(false);
  });

  // Whoever can make a text long must not be able to make looking at it slow: this would take a quarter of an hour.
  it.each(['a', '9f', '%', 'a1B'])('is looked for in a long text once through: %s', (part) => {
    expect(looksSecret(`${part.repeat(1_000_000)} bob@mail.example`)).toBe(true);
  });
});

import { describe, expect, it } from 'vitest';
import {
  containsFourNumbers,
  containsLongNumber,
  containsPersonalData,
  type PersonalMark,
  personalName,
} from '../../../src/engine/privacy/personal-text.ts';

/*
 * The attack: an undocumented field of a response holds personal data. Its name is all that tells so, and decides whether
 * its values are described in proposals and reports.
 */
describe('the name of a field', () => {
  it.each<readonly [PersonalMark, readonly string[]]>([
    ['email', ['email', 'eMail', 'e-mail', 'contactEmail', 'e_mail_address', 'mail', 'mail_addr', 'mailAddress']],
    ['email-hash', ['emailHash', 'email_md5', 'gravatar-hash', 'mailSha256']],
    ['ip', ['ip', 'client_ip', 'last-ip', 'ipAddress', 'ip_addr', 'remoteAddr', 'remote_address', 'last_ip_address']],
    [
      'real-name',
      ['realName', 'fullName', 'first_name', 'last-name', 'givenName', 'surname', 'displayName', 'display_name'],
    ],
    [
      'username',
      ['username', 'user_name', 'loginName', 'screenName', 'nick', 'nickname', 'handle', 'author', 'ownerName'],
    ],
    ['picture', ['avatar', 'avatarUrl', 'photo_url', 'picture-link', 'gravatarUrls']],
    ['account-id', ['accountId', 'account_id', 'account-id']],
    ['time-zone', ['timezone', 'timeZone', 'time_zone', 'time-zone']],
    ['phone', ['phone', 'mobilePhone', 'homephone', 'mobile', 'fax']],
    [
      'secret',
      ['password', 'passwd', 'clientSecret', 'accessToken', 'apiKey', 'api_key', 'credentials', 'sessionId', 'cookie'],
    ],
  ])('shows the kind %s', (mark, names) => {
    expect(names.map((name) => [name, personalName(name)])).toEqual(names.map((name) => [name, mark]));
  });

  it.each([
    'id',
    'title',
    'zip',
    'ship',
    'tooltip',
    'name',
    'filename',
    'typeName',
    'faxes',
    'timezones',
    'accountIds',
    'avatars',
    'handler',
    'nicks',
    'mailbox',
    'sendMail',
  ])('%s shows none', (name) => {
    expect(personalName(name)).toBeUndefined();
  });
});

describe('a long number', () => {
  it.each(['123456789', '123-456-789', '1.2_3-4.5_6-7.8_9', '123--456__789', 'x1234567890'])('is in %s', (text) => {
    expect(containsLongNumber(text)).toBe(true);
  });

  it.each(['12345678', '1234567---89', '2026-05-04', ''])('is not in %j', (text) => {
    expect(containsLongNumber(text)).toBe(false);
  });
});

describe('four numbers', () => {
  it.each(['8.8.8.8', '1_2_3_4', 'v1.6.3.5', '255.255.255.255'])('are in %s', (text) => {
    expect(containsFourNumbers(text)).toBe(true);
  });

  it.each(['8.8.8', '1.2.3.4.5', '1234.1.1.1', '1.1.1.1234', '2026-11-21-0001'])('are not in %s', (text) => {
    expect(containsFourNumbers(text)).toBe(false);
  });
});

describe('personal data', () => {
  it.each([
    'a@b',
    'a%40b',
    'a%2540b',
    'a=40b',
    '10.0.0.1',
    '10-20-30-40',
    '192_168_1_1',
    '2001:db8:1:2::1',
    '::1',
    '+491701234567',
    '+1 (555) 123-4567',
    'phone1234567',
    'Fax: 12-34-56-7'.replace(' ', ''),
    'iban=123456',
    '4111 1111 1111 1111',
    '555-123-4567',
    'DE89370400440532013000',
    'GB29 NWBK 6016 1331 9268 19',
  ])('is found in %s', (text) => {
    expect(containsPersonalData(text)).toBe(true);
  });

  it.each([
    'a @ b',
    '@name',
    '1.6.3.5',
    '12:30:59',
    'a:b',
    '+1234567',
    'phones',
    'telephone 12345',
    '12345-1234',
    'DE89',
  ])('is not found in %s', (text) => {
    expect(containsPersonalData(text)).toBe(false);
  });
});

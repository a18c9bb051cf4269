/**
 * Patterns for personal data: email and IP addresses, and telephone, card and account numbers. All patterns are in
 * this file. Each pattern looks ahead only a limited number of characters, so matching is fast even for long strings.
 */
const PERSONAL = [
  // An email address, plain or encoded. Quoted-printable text contains `=40` instead of `@`.
  /[^\s@/](?:@|%(?:25)*40)[^\s@/]/i,
  /[\w.+-]=40[\w-]/i,
  // An IPv6 address, or an IPv4 address with at least one group of two or more digits. Most version numbers have no
  // such group.
  /(?<!\d)(?=(?:\d[-_.]){0,3}\d\d)\d{1,3}(?:[-_.]\d{1,3}){3}(?!\d)/,
  /(?<![\da-z])[\da-f]{0,4}(?::[\da-f]{0,4}){3,7}(?![\da-z])|::/i,
  // Telephone numbers with a country code, and numbers after a word such as `phone` or `iban`.
  /(?<![\w+])\+\d(?:[-._:/ ()]{0,2}\d){7}/,
  /(?<![A-Za-z])(?:tel|phone|mobile|fax|card|iban|ssn)\d*[-._:=/+]{0,2}\d(?:[-._:/]{0,2}\d){5}/i,
  // Card numbers, North American telephone numbers, and account numbers (ISO 13616).
  /(?<!\d)\d{4}(?:[-._:/+= ]{1,2}\d{4}){3}(?!\d)/,
  /(?<!\d)\d{3}[-._:/+=]{1,2}\d{3}[-._:/+=]\d{4}(?!\d)/,
  /(?<![A-Za-z\d])[A-Z]{2}\d{2}(?:[A-Z]{0,4}\d{10,26}|(?:[-._:/+= ][A-Z\d]{4}){3,7})(?![A-Za-z\d])/,
];

/** Nine or more digits, possibly in groups. The names that contracts use contain fewer digits. */
const LONG_NUMBER = /\d(?:[-_.]{0,2}\d){8}/;
/** Four groups of digits. This includes IPv4 addresses in which every group has a single digit. */
const SHORT_MACHINE = /(?<!\d[._]?)\d{1,3}(?:[._]\d{1,3}){3}(?!\d|[._]\d)/;

/** Returns whether a string contains an email or IP address, or a telephone, card or account number. */
export const containsPersonalData = (text: string): boolean => PERSONAL.some((form) => form.test(text));

/** Returns whether a string contains a number that is long enough to identify a person. */
export const containsLongNumber = (text: string): boolean => LONG_NUMBER.test(text);

/** Returns whether a string contains four numbers that may form an IPv4 address or a version number. */
export const containsFourNumbers = (text: string): boolean => SHORT_MACHINE.test(text);

/** The kinds of personal data in the contract (`x-pii`). */
export type PersonalMark =
  | 'email'
  | 'email-hash'
  | 'ip'
  | 'real-name'
  | 'username'
  | 'picture'
  | 'account-id'
  | 'time-zone'
  | 'phone'
  | 'secret'
  | 'identifiers';

const BY_NAME: readonly (readonly [PersonalMark, RegExp])[] = [
  ['email-hash', /^(?:e?mail|gravatar)_?-?(?:hash|md5|sha\d*)$/],
  ['email', /e-?_?mail|^mail(?:_?-?addr(?:ess)?)?$/],
  ['secret', /password|passwd|secret|token|api_?-?key|credential|session_?-?id|cookie/],
  ['ip', /^(?:.*[_-])?(?:ip|ip_?-?addr(?:ess)?|remote_?-?addr(?:ess)?)$/],
  ['real-name', /^(?:real|full|first|last|given|family|middle|sur|maiden)_?-?name$|^displayname$|^display_name$/],
  [
    'username',
    /^(?:user|login|screen|nick|account|owner|author|editor|creator|uploader)_?-?(?:name|id_name)?$|^nick$|^handle$/,
  ],
  ['picture', /^(?:avatar|photo|picture|gravatar)(?:_?-?(?:url|urls|link))?$/],
  ['account-id', /^account_?-?id$/],
  ['time-zone', /^time_?-?zone$/],
  ['phone', /phone|mobile|^fax$/],
];

/** Returns the kind of personal data that the name of a field suggests, or undefined. */
export function personalName(name: string): PersonalMark | undefined {
  const lower = name.toLowerCase();
  return BY_NAME.find(([, pattern]) => pattern.test(lower))?.[0];
}

/**
 * The forms of personal data: addresses of people and machines, telephones, cards and accounts. This is the one list of them. Every
 * expression looks a bounded number of characters ahead, so that a long text cannot make looking at it slow.
 */
const PERSONAL = [
  // An e-mail address, or what its encoded forms leave of it; mails write `=40` for the sign.
  /[^\s@/](?:@|%(?:25)*40)[^\s@/]/i,
  /[\w.+-]=40[\w-]/i,
  // IPv4 with at least one group of two digits, as versions have none; IPv6.
  /(?<!\d)(?=(?:\d[-_.])*\d\d)\d{1,3}(?:[-_.]\d{1,3}){3}(?!\d)/,
  /(?<![\da-z])[\da-f]{0,4}(?::[\da-f]{0,4}){3,7}(?![\da-z])|::/i,
  // Telephones with a country, and numbers that are called by their name.
  /(?<![\w+])\+\d(?:[-._:/ ()]{0,2}\d){7}/,
  /(?<![A-Za-z])(?:tel|phone|mobile|fax|card|iban|ssn)\d*[-._:=/+]{0,2}\d(?:[-._:/]{0,2}\d){5}/i,
  // Cards; telephones and social security numbers of North America; accounts (ISO 13616).
  /(?<!\d)\d{4}(?:[-._:/+= ]{1,2}\d{4}){3}(?!\d)/,
  /(?<!\d)\d{3}[-._:/+=]{1,2}\d{3}[-._:/+=]\d{4}(?!\d)/,
  /(?<![A-Za-z\d])[A-Z]{2}\d{2}(?:[A-Z]{0,4}\d{10,26}|(?:[-._:/+= ][A-Z\d]{4}){3,7})(?![A-Za-z\d])/,
];

/** Nine digits and more, in groups too: no word of a contract has as many. */
const LONG_NUMBER = /\d(?:[-_.]{0,2}\d){8}/;
/** IPv4 whose groups may all be single digits. */
const SHORT_MACHINE = /(?<!\d[._]?)\d{1,3}(?:[._]\d{1,3}){3}(?!\d|[._]\d)/;

/** True for text that holds an address of a person or a machine, or the number of a telephone, a card or an account. */
export function holdsPersonalData(text: string): boolean {
  return PERSONAL.some((form) => form.test(text));
}

/** True for text that holds a number which is long enough to be somebody's, whatever it is. */
export function holdsLongNumber(text: string): boolean {
  return LONG_NUMBER.test(text);
}

/** True for text that holds four numbers like those of an IPv4 address, which may be a version too. */
export function holdsFourNumbers(text: string): boolean {
  return SHORT_MACHINE.test(text);
}

/** The marks of personal data that the contract knows (`x-pii`). */
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
  ['email', /e-?_?mail/],
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

/** The mark that the name of a field suggests. */
export function personalName(name: string): PersonalMark | undefined {
  const lower = name.toLowerCase();
  return BY_NAME.find(([, pattern]) => pattern.test(lower))?.[0];
}

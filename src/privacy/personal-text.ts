import { createHmac, randomBytes } from 'node:crypto';

/**
 * Patterns for personal data: e-mail and IP addresses, and telephone, card and account numbers. This file is the only
 * place that lists them. Each expression looks ahead only a limited number of characters, so matching is fast even for
 * long strings.
 */
const PERSONAL = [
  // An e-mail address, plain or encoded. Quoted-printable text contains `=40` instead of `@`.
  /[^\s@/](?:@|%(?:25)*40)[^\s@/]/i,
  /[\w.+-]=40[\w-]/i,
  // An IPv6 address, or an IPv4 address with at least one group of two or more digits. Most version numbers have no
  // such group.
  /(?<!\d)(?=(?:\d[-_.])*\d\d)\d{1,3}(?:[-_.]\d{1,3}){3}(?!\d)/,
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

/** Returns whether a string contains an e-mail or IP address, or a telephone, card or account number. */
export const containsPersonalData = (text: string): boolean => PERSONAL.some((form) => form.test(text));

/** Returns whether a string contains a number that is long enough to identify a person. */
export const containsLongNumber = (text: string): boolean => LONG_NUMBER.test(text);

/** Returns whether a string contains four numbers that may be an IPv4 address or a version number. */
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

/** Returns the kind of personal data that the name of a field suggests, or undefined. */
export function personalName(name: string): PersonalMark | undefined {
  const lower = name.toLowerCase();
  return BY_NAME.find(([, pattern]) => pattern.test(lower))?.[0];
}

/** Recognizes personal values that this process has seen since it started. */
interface PersonalMemory {
  readonly remember: (text: string) => void;
  /**
   * Returns whether a string is the value of a personal field or consists of words from such values. For example,
   * after the name Jana Novák has been seen, `Jana` and `jana_novak` are recognized.
   */
  readonly contains: (text: string) => boolean;
}

const MAX_TEXTS = 40_000;
const MAX_RECENT = 500;
const LONGEST = 200;

/**
 * Creates an in-memory store of keyed hashes. The key never leaves the process. Only the most recent values are also
 * stored as plain text.
 */
export function createPersonalMemory(maxTexts = MAX_TEXTS): PersonalMemory {
  const key = randomBytes(32);
  const hashes = new Set<string>();
  // The same few people appear on most pages, so recent values are stored as plain text to avoid hashing them again.
  let recent = new Set<string>();
  const hash = (text: string) => createHmac('sha256', key).update(text.toLowerCase()).digest('latin1').slice(0, 12);
  const add = (text: string) => {
    if (hashes.size < maxTexts) hashes.add(hash(text));
  };
  return {
    remember: (text) => {
      if (recent.has(text)) return;
      if (recent.size >= MAX_RECENT) recent = new Set();
      recent.add(text);
      if (text === '' || text.length > LONGEST) return;
      add(text);
      wordsOf(text).forEach(add);
    },
    contains: (text) => {
      if (hashes.size === 0 || text.length > LONGEST) return false;
      if (hashes.has(hash(text))) return true;
      const words = wordsOf(text);
      return words.length > 0 && words.every((word) => hashes.has(hash(word)));
    },
  };
}

/** The maximum number of words in a name. A longer text is a sentence, whose words do not identify a person. */
const MAX_WORDS = 5;

/** Returns the words of a person's name. The name may contain accents, or have the form of an address or identifier. */
export function wordsOf(text: string): readonly string[] {
  // The words in the URL of a page or picture come from the server, and are not part of a person's name.
  if (/^\/|:\/\//.test(text)) return [];
  const [name = ''] = text.split('@', 1);
  const plain = name
    .normalize('NFD')
    .replaceAll(/\p{Mn}/gu, '')
    .replaceAll(/(\p{Ll})(?=\p{Lu})/gu, '$1 ');
  const words = plain.toLowerCase().match(/\p{L}{3,}/gu) ?? [];
  return words.length > MAX_WORDS ? [] : words;
}

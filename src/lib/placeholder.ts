/** What separates a bracketed name from its surroundings. Inside a random password, the same characters mean nothing. */
const START = String.raw`(?:^|[\s=:/@.,-])`;
const END = String.raw`(?:$|[\s:/@.,-])`;

/**
 * The placeholders of templates in brackets: `${NAME}`, `$(NAME)`, `{{ name }}`, `<% name %>`, `<your-name>`, `%NAME%`,
 * `__NAME__` and `@NAME@`. The lengths are limited, so matching is fast.
 */
const BRACKETED = [
  /\$\{[a-z_][^{}]{0,100}\}|\{\{[^{}]{1,100}\}\}/i,
  new RegExp(String.raw`${START}(?:\$\([a-z][\w ./-]{0,100}\)|<[a-z][\w .:/-]{1,100}>|<%[^%]{1,100}%>)${END}`, 'i'),
  new RegExp(String.raw`${START}(?:%[A-Z][A-Z\d_]{1,100}%|__[A-Z][A-Z\d_]{1,100}__|@@?[A-Z][A-Z\d_]{1,100}@@?)${END}`),
];

/**
 * Words that are placeholders only as a whole value or as the whole host of an address. Names such as `my-server` are
 * none: a host may have them.
 */
const WORDS = [
  /^(?:change|replace)[-_. ]?(?:me|this)(?:[-_. ]please)?$/i,
  /^(?:(?:put|insert|enter|paste)[-_ ])?your(?:[-_ ]\w{1,30}){0,3}[-_ ](?:password|secret|token|key)(?:[-_ ]here)?$/i,
  /^(?:x{3,}|\*{3,}|\.{3}|…)$/i,
];
const HOST = /^[a-z][a-z\d+.-]{0,20}:\/\/(?:[^/@]{0,200}@)?([^/:?#]{1,255})/i;

/** Returns whether a secret or an address is still the placeholder of a template instead of a value. */
export function isPlaceholder(text: string): boolean {
  const [, host = ''] = HOST.exec(text) ?? [];
  return BRACKETED.some((form) => form.test(text)) || WORDS.some((form) => form.test(text.trim()) || form.test(host));
}

/** A request to replace a secret. Nobody chooses it as part of a secret, and a random secret does not contain it. */
const CHANGE_ME = /(?<![a-z])change[-_. ]?me(?:[-_. ]?(?:now|please))?(?![a-z])/i;

/** The token of the demonstration in earlier versions of `deploy/compose.yaml`. */
const PUBLISHED = 'only-for-the-demonstration-8f3a';

/**
 * Returns whether a secret is still the placeholder of a template, contains a request to replace it, such as
 * `changeme-123`, or is published with Portico.
 */
export function isPlaceholderSecret(text: string): boolean {
  return isPlaceholder(text) || CHANGE_ME.test(text) || text.includes(PUBLISHED);
}

/**
 * Forms of placeholders in templates: `${NAME}`, `$(NAME)`, `{{ name }}`, `<your-name>`, `%NAME%`, `__NAME__`, `@@NAME@@`,
 * and words such as `CHANGE_ME`, `your-password` and `password-here`. The lengths are limited, so matching is fast.
 */
const FORMS = [
  /\$\{[^{}]{0,100}\}|\$\([\w ./-]{1,100}\)|\{\{[^{}]{0,100}\}\}|<%[^%]{0,100}%>/,
  /<[a-z][\w .:/-]{1,100}>/i,
  /(?<!\w)%[A-Z][A-Z\d_]{1,100}%(?!\w)/,
  /__[A-Z][A-Z\d_]{1,100}__|@@?[A-Z][A-Z\d_]{1,100}@@?/,
  /(?<![a-z])(?:change|replace|fill|edit)[-_. ]?(?:me|this|it|in)(?![a-z])/i,
  /(?<![a-z])replace[-_. ]with[-_. ]/i,
  /(?<![a-z])(?:your|my|the)[-_ ](?:admin[-_ ]|api[-_ ]|legacy[-_ ]|redis[-_ ])?(?:password|passwd|secret|token|key|user|username|name|login|account|host|hostname|server|domain|site|url|address|origin|value)(?![a-z])/i,
  /(?<![a-z])(?:insert|put|enter)[-_ ][\w -]{1,60}[-_ ]here(?![a-z])/i,
  /(?<![a-z])(?:password|secret|token|key|host|url|address|value)[-_ ](?:goes[-_ ])?here(?![a-z])/i,
  /(?<![a-z])(?:placeholder|fixme)(?![a-z])/i,
];

/** The same for a whole value, or for the whole host of an address. */
const WORDS = /^(?:todo|tbd|tba|xxx+|\*{3,}|\.{3}|…|changeit|none set|unset)$/i;
const HOST = /^[a-z][a-z\d+.-]{0,20}:\/\/(?:[^/@]{0,200}@)?([^/:?#]{1,255})/i;

/** Returns whether a secret or an address is still the placeholder of a template instead of a value. */
export function isPlaceholder(text: string): boolean {
  const [, host = text] = HOST.exec(text) ?? [];
  return FORMS.some((form) => form.test(text)) || WORDS.test(text.trim()) || WORDS.test(host);
}

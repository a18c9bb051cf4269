/** The form of a string. It describes the string without revealing its content. */
export type TextForm = (typeof TEXT_FORMS)[number]['name'] | 'plain';

/** The string forms, in the order in which they are tested. */
export const TEXT_FORMS = [
  { name: 'empty', test: /^$/ },
  { name: 'formatted-date', test: /^\d{2}\/\d{2}\/\d{4} \d{2}:\d{2} (?:AM|PM)$/ },
  { name: 'schedule-date', test: /^\d{2}\/\d{2}\/\d{4} \d{2}:\d{2}$/ },
  { name: 'stored-date', test: /^\d{4}-\d{2}-\d{2} \d{2}:\d{2}:\d{2}\.\d{1,9}$/ },
  { name: 'spoken-date', test: /^[A-Z][a-z]{2} [A-Z][a-z]{2} \d{2} \d{2}:\d{2}:\d{2} [^ ]{1,16} \d{4}$/ },
  { name: 'date-time', test: /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?:Z|[+-]\d{2}:?\d{2})?$/ },
  { name: 'date', test: /^\d{4}-\d{2}-\d{2}$/ },
  { name: 'uuid', test: /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i },
  { name: 'url', test: /^https?:\/\/[^\s]{1,2000}$/i },
  { name: 'path', test: /^\/[^\s/][^\s]{0,2000}$/ },
  { name: 'e-mail', test: /[^\s@<>]{1,64}@[A-Za-z0-9-]{1,63}\.[A-Za-z0-9.-]{1,63}/ },
  { name: 'ip', test: /^(?:\d{1,3}(?:\.\d{1,3}){3}|[0-9a-f]{0,4}(?::[0-9a-f]{0,4}){2,7})$/i },
  { name: 'phone', test: /^\+\d[\d ().-]{6,20}\d$/ },
  { name: 'digits', test: /^-?\d{1,40}$/ },
  { name: 'html', test: /<\/?[a-z][^<>]{0,200}>/i },
  { name: 'secret', test: /^(?=.*\d)(?=.*[A-Za-z])[A-Za-z0-9+/=_.-]{20,}$/ },
] as const;

const LONGEST = 4096;

/** Returns the first form that matches a string, or `plain` if no form matches. */
export function textForm(text: string): TextForm {
  // A string this long is prose, so testing its beginning is enough.
  const head = text.length > LONGEST ? text.slice(0, LONGEST) : text;
  return TEXT_FORMS.find(({ test }) => test.test(head))?.name ?? 'plain';
}

const KNOWN_FORMS: ReadonlySet<string> = new Set([...TEXT_FORMS.map(({ name }) => name), 'plain']);

/** Returns whether a string is the name of a form. */
export function isTextForm(name: string): name is TextForm {
  return KNOWN_FORMS.has(name);
}

/** Returns a pattern that matches all strings of a form, or undefined if the form is too loose to be enforced. */
export function formPattern(form: TextForm): string | undefined {
  const strict: readonly TextForm[] = ['formatted-date', 'schedule-date', 'stored-date', 'spoken-date', 'date', 'uuid'];
  if (!strict.includes(form)) return undefined;
  const found = TEXT_FORMS.find(({ name }) => name === form)?.test;
  return found?.flags === 'i' ? found.source.replaceAll('a-f', 'A-Fa-f') : found?.source.replaceAll('(?:', '(');
}

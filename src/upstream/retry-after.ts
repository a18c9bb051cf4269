/** A `Retry-After` value that may be passed on (RFC 9110 §10.2.3): seconds or a date; undefined for anything else. */
export function retryAfter(value: string | undefined): string | undefined {
  const text = value?.trim() ?? '';
  if (/^\d{1,9}$/.test(text)) return text;
  const isDate = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/.test(text);
  return isDate && !Number.isNaN(Date.parse(text)) ? text : undefined;
}

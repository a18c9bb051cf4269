const NAMED = /key$/i;
/** Keys that open something: in an address the server, and whatever stands before it, would write them down. */
const OPENS =
  /(?:access|api|auth|cert(?:ificate)?|encryption|host|licen[cs]e|master|pass|private|public|secret|security|service|session|shared|sign(?:ing)?|ssh|token)[_-]?key$/i;
const FORM = /^[A-Z][A-Z0-9_]{1,19}-\d{1,9}$/;
const MAX_DEPTH = 5;
const MAX_ELEMENTS = 20;

/** The keys of issues that a look-up of a ticket shows, wherever they are in it: by their form, or by the name of the field. */
export function ticketKeysIn(value: unknown, name = '', depth = 0): readonly string[] {
  if (typeof value === 'string')
    return FORM.test(value) || (isNamed(name) && /^[\w-]{1,40}$/.test(value)) ? [value] : [];
  if (typeof value !== 'object' || value === null || depth > MAX_DEPTH) return [];
  if (Array.isArray(value)) return value.slice(0, MAX_ELEMENTS).flatMap((one) => ticketKeysIn(one, name, depth + 1));
  return Object.entries(value).flatMap(([key, member]) => ticketKeysIn(member, key, depth + 1));
}

const isNamed = (name: string) => NAMED.test(name) && !OPENS.test(name);

/** How the names in credentials are compared with the names of accounts and authors. */
export type NameRule = 'exact' | 'ignoreCase';

/** Returns the function whose results are equal for two names exactly if the names are the same under the rule. */
export function nameKeyFor(rule: NameRule): (name: string) => string {
  return rule === 'exact' ? (name) => name : withoutCase;
}

/**
 * Ignores case, but nothing else. What a rule grants to a name must not extend to a name that merely looks similar,
 * because the server might let someone else register it.
 */
const withoutCase = (name: string) => name.normalize('NFC').toLowerCase();

// Most names consist of these characters only, and are their own canonical form.
const CANONICAL = /^[a-z0-9._@+-]*$/;

/**
 * Returns one form for all spellings of a name that a server might treat as the same account: spellings that differ in
 * case, Unicode form, white space or invisible characters. Limits count this form, so another spelling of a name does
 * not get a budget of its own. Because servers differ, it must never be used to grant anything.
 */
export function canonicalName(name: string): string {
  if (CANONICAL.test(name)) return name;
  let folded = fold(name);
  // Folding can produce characters that have to be folded in turn.
  for (let before = name; before !== folded;) {
    before = folded;
    folded = fold(folded);
  }
  return folded;
}

function fold(name: string): string {
  return (
    name
      .normalize('NFKC')
      // Some letters have a common form only in upper case, such as the two lower-case sigmas.
      .toUpperCase()
      .toLowerCase()
      // The lower-case form of the dotted capital I is an i with another dot. Java's comparison without case ignores it.
      .replaceAll('i\u0307', 'i')
      .replace(/\p{Default_Ignorable_Code_Point}/gu, '')
      .normalize('NFKC')
      .replace(/\s+/gu, ' ')
      .trim()
  );
}

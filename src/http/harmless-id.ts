const ID = /^[\w.:+/=-]{1,128}$/;
/** The commonest ids, looked at first: some of them hold groups of digits as the number of a card does. */
const UUID = /^[\da-f]{8}(?:-?[\da-f]{4}){3}-?[\da-f]{12}$/i;
const TELLING = [
  // A JSON Web Token, and keys with the prefixes that services give them.
  /eyJ[\w-]{8}/,
  /(?:^|[^A-Za-z\d])(?:sk|pk|rk|gh[opsu]|github_pat|glpat|xox[a-z]|whsec|npm|shpat|dop_v1|A[KS]IA)[-_]?[\w-]{12}/,
  /(?:^|[^A-Za-z\d])(?:AIza[\w-]{20}|ya29\.[\w-]{8}|SG\.[\w-]{6,}\.[\w-]{6})/,
  /(?:^|[^A-Za-z])(?:basic|bearer|password|passwd|pwd|token|secret)[:=+]/i,
  // Addresses of machines, which are people's at home.
  /(?<!\d[._]?)\d{1,3}(?:[._]\d{1,3}){3}(?![\d]|[._]\d)/,
  /(?:^|[^\da-z])[\da-f]{0,4}(?::[\da-f]{0,4}){3,7}(?:$|[^\da-z])|::/i,
  // An e-mail address as mails write it in their header.
  /[\w.+-]=40[\w-]/i,
  // Numbers of telephones, cards and accounts.
  /(?:^|[^\w+])\+\d(?:[-._:/]{0,2}\d){7}/,
  /(?:^|[^A-Za-z])(?:tel|phone|mobile|fax|card|iban|ssn)\d*[-._:=/+]{0,2}\d(?:[-._:/]{0,2}\d){5}/i,
  /(?<!\d)\d{4}(?:[-._:/+=]{1,2}\d{4}){3}(?!\d)/,
  /(?<!\d)\d{3}[-._:/+=]{1,2}\d{3}[-._:/+=]\d{4}(?!\d)/,
  /(?:^|[^A-Za-z\d])[A-Z]{2}\d{2}(?:[A-Z]{0,4}\d{10,26}|(?:[-._:/+=][A-Z\d]{4}){3,7})(?:$|[^A-Za-z\d])/,
];
const BASE64 = /[A-Za-z\d+/]{8,}/g;
const CREDENTIAL = /^[^\p{Cc}\ufffd]+:[^\p{Cc}\ufffd]*$/u;
const EMAIL = /[\p{L}\d.+-]@[\p{L}\d-]+\.\p{L}/u;

/**
 * Whether what a client sent as the id of a request may be repeated in logs, in the ledger and upstream: short, plain, and
 * in no form of a token, an address, a credential or the number of a telephone, card or account. A name in it cannot be told from a word.
 */
export function isHarmlessId(sent: string): boolean {
  if (UUID.test(sent)) return true;
  return ID.test(sent) && !TELLING.some((form) => form.test(sent)) && !(sent.match(BASE64) ?? []).some(hidesCredential);
}

/** Name and password, or an e-mail address, in Base64: the bytes of an id that is random are hardly ever all printable. */
function hidesCredential(text: string): boolean {
  const inside = Buffer.from(text, 'base64').toString('utf8');
  return CREDENTIAL.test(inside) || EMAIL.test(inside);
}

const ID = /^[\w.:+/=-]{1,128}$/;
const TELLING = [
  // A JSON Web Token, and keys with the prefixes that services give them.
  /eyJ[\w-]{8}/,
  /(?:^|[^A-Za-z\d])(?:sk|pk|rk|gh[opsu]|xox[a-z]|AKIA|glpat)[-_]?[\w-]{12}/,
  /(?:^|[^A-Za-z])(?:basic|bearer|password|passwd|token|secret)[:=+]/i,
  // Addresses of machines, which are people's at home.
  /(?:^|[^\d.])\d{1,3}(?:\.\d{1,3}){3}(?:$|[^\d.])/,
];
const BASE64 = /[A-Za-z\d+/]{8,}/g;
const CREDENTIAL = /^[\x20-\x7e]+:[\x20-\x7e]*$/;
const EMAIL = /[\w.+-]@[\w-]+\.\w/;

/**
 * Whether what a client sent as the id of a request may be repeated in logs, in the ledger and upstream: short, plain, and
 * in no form of a token, an address or a credential. A name in it cannot be told from a word.
 */
export function isHarmlessId(sent: string): boolean {
  return ID.test(sent) && !TELLING.some((form) => form.test(sent)) && !(sent.match(BASE64) ?? []).some(hidesCredential);
}

/** Name and password, or an e-mail address, in Base64: the bytes of an id that is random are hardly ever all printable. */
function hidesCredential(text: string): boolean {
  const inside = Buffer.from(text, 'base64').toString('latin1');
  return CREDENTIAL.test(inside) || EMAIL.test(inside);
}

/**
 * What a field of the form begins with: the example of a path parameter; nothing of the query is asked for by itself.
 */
export function firstValues({ parameters }) {
  return Object.fromEntries(
    parameters
      .filter(({ in: where }) => where === 'path')
      .map(({ in: where, name, example }) => [`${where}:${name}`, example === undefined ? '' : String(example)]),
  );
}

/** The first example of a body as text; empty where there is none. */
export function firstBody({ requestBody }) {
  const value = requestBody?.content[0]?.examples[0]?.value;
  return value === undefined ? '' : pretty(value);
}

/** A value as indented JSON. */
export const pretty = (value) => JSON.stringify(value, undefined, 2);

/** A body made readable where it is JSON whose numbers survive that; anything else as it came. */
export function prettyBody(text, mediaType) {
  // Beyond 53 bits a number would be shown as another one.
  if (!/json/i.test(mediaType) || /[^"\w.]\d{16,}/.test(text)) return text;
  try {
    return pretty(JSON.parse(text));
  } catch {
    return text;
  }
}

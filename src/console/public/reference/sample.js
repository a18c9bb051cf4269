/** Returns the initial values of the form. Path parameters have example values, and query parameters are empty. */
export function firstValues({ parameters }) {
  return Object.fromEntries(
    parameters
      .filter(({ in: where }) => where === 'path')
      .map(({ in: where, name, example }) => [`${where}:${name}`, example === undefined ? '' : String(example)]),
  );
}

/** Returns the first example of the request body as text, or an empty string if there is none. */
export function firstBody({ requestBody }) {
  const value = requestBody?.content[0]?.examples[0]?.value;
  return value === undefined ? '' : pretty(value);
}

/** Formats a value as indented JSON. */
export const pretty = (value) => JSON.stringify(value, undefined, 2);

/** Indents a JSON body if this changes none of its numbers. Any other body is returned unchanged. */
export function prettyBody(text, mediaType) {
  // An integer with more than 53 bits would be shown with a different value.
  if (!/json/i.test(mediaType) || /[^"\w.]\d{16,}/.test(text)) return text;
  try {
    return pretty(JSON.parse(text));
  } catch {
    return text;
  }
}

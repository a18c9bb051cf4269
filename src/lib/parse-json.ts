/** Parses a string as JSON. Returns undefined if it is not valid JSON. A leading byte order mark is ignored. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text.startsWith('\uFEFF') ? text.slice(1) : text) as unknown;
  } catch {
    return undefined;
  }
}

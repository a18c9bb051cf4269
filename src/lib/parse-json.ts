/** Parses a JSON text; returns undefined if it is not JSON. A leading byte order mark is skipped. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text.startsWith('\uFEFF') ? text.slice(1) : text) as unknown;
  } catch {
    return undefined;
  }
}

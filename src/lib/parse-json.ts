/** What a JSON text says; undefined for a text that is no JSON. A byte order mark before it is passed over. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text.startsWith('\uFEFF') ? text.slice(1) : text) as unknown;
  } catch {
    return undefined;
  }
}

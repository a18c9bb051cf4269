/** The version of the JSON documents, which increases with every incompatible change. */
const VERSION = 1;

/** Formats a command's result as a JSON document of the given kind. */
export function jsonDocument(kind: string, content: object): string {
  return JSON.stringify({ version: VERSION, kind, ...content }, null, 2);
}

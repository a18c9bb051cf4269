/**
 * Parses a JSON text like `JSON.parse`, except that an integer that a number cannot represent exactly becomes a string
 * with its digits. This takes several times as long. A byte order mark is ignored. Throws a SyntaxError if the text is
 * not JSON.
 */
export function parseExact(bytes: Buffer): unknown {
  return (JSON.parse as ParseWithSource)(new TextDecoder().decode(bytes), (_name, value, { source }) =>
    typeof value === 'number' && !Number.isSafeInteger(value) && /^-?\d+$/.test(source ?? '') ? source : value,
  );
}

/** `JSON.parse` with a reviver that receives the text of each number and string. TypeScript does not declare it yet. */
type ParseWithSource = (
  text: string,
  reviver: (name: string, value: unknown, context: { readonly source?: string }) => unknown,
) => unknown;

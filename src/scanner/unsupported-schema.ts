/**
 * Thrown for a schema that the scanner cannot check. Its responses are parsed and validated as if there were no
 * scanner.
 */
export class UnsupportedSchema extends Error {
  override readonly name = 'UnsupportedSchema';
}

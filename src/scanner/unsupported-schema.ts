/** Thrown for a schema that the scanner cannot check. Its responses are parsed and validated as without a scanner. */
export class UnsupportedSchema extends Error {
  override readonly name = 'UnsupportedSchema';
}

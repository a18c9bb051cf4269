/** Names of all schema objects in a file, as the file and a JSON pointer into it: what Ajv's own paths lose behind references. */
export function schemaPointers(files: ReadonlyMap<string, object>): WeakMap<object, string> {
  const pointers = new WeakMap<object, string>();
  const visit = (value: unknown, pointer: string) => {
    if (typeof value !== 'object' || value === null) return;
    pointers.set(value, pointer);
    for (const [key, child] of Object.entries(value))
      visit(child, `${pointer}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`);
  };
  for (const [file, schema] of files) visit(schema, `${file}#`);
  return pointers;
}

import type { PersonalField } from './contract.ts';
import type { SchemaObject, SchemaOrBoolean } from './openapi-document.ts';

/** Every field of the resources that carries `x-pii`, each pair of name and kind once. */
export function personalFields(schemas: Readonly<Record<string, SchemaObject>>): PersonalField[] {
  const found = new Map<string, PersonalField>();
  const visit = (schema: SchemaOrBoolean, name: string) => {
    if (typeof schema === 'boolean') return;
    const kind = schema['x-pii'];
    if (kind !== undefined) found.set(`${name} ${kind}`, { name, kind });
    for (const [child, property] of Object.entries(schema.properties ?? {})) visit(property, child);
    for (const part of [schema.items ?? true, ...(schema.allOf ?? []), ...(schema.anyOf ?? [])]) visit(part, name);
  };
  for (const schema of Object.values(schemas)) visit(schema, '');
  return [...found.values()];
}

const REF = '#/components/schemas/';

/**
 * Resolves a schema. The result is the schema itself or, for a reference, the referenced component overridden by the
 * members next to the reference.
 */
export function resolved(schema, schemas) {
  let found = schema;
  for (let step = 0; step < 20 && typeof found?.$ref === 'string'; step += 1) {
    const { $ref, ...siblings } = found;
    found = { ...schemas[$ref.replace(REF, '')], ...siblings };
  }
  return found ?? {};
}

/** Returns the name of the component that a schema refers to, or undefined if it is not a reference. */
export const nameOf = (schema) => (typeof schema?.$ref === 'string' ? schema.$ref.replace(REF, '') : undefined);

/**
 * Returns a short description of a schema's type, such as `integer (int64)`, `array of Comment` or `string or null`.
 */
export function typeText(schema, schemas) {
  if (schema === false) return 'not allowed';
  if (schema === true) return 'anything';
  const { type, format, items, anyOf, oneOf, allOf, not } = resolved(schema, schemas);
  const options = anyOf ?? oneOf;
  if (options !== undefined)
    return [...new Set(options.map((one) => nameOf(one) ?? typeText(one, schemas)))].join(' or ');
  if (type === undefined && allOf !== undefined)
    return allOf.map((one) => nameOf(one) ?? typeText(one, schemas)).join(' and ');
  if (type === undefined) return not === undefined ? 'anything' : 'anything, with exceptions';
  const words = [type].flat();
  if (items !== undefined)
    return words.join(' or ').replace('array', `array of ${nameOf(items) ?? typeText(items, schemas)}`);
  return `${words.join(' or ')}${format === undefined ? '' : ` (${format})`}`;
}

/** Returns a description of a schema's bounds. */
export function boundsText(schema, schemas) {
  const at = resolved(schema, schemas);
  const bounds = [
    at.const !== undefined && `always ${JSON.stringify(at.const)}`,
    at.enum !== undefined && `one of ${at.enum.map((one) => JSON.stringify(one)).join(', ')}`,
    at.minimum !== undefined && `at least ${at.minimum}`,
    at.maximum !== undefined && `at most ${at.maximum}`,
    at.minLength !== undefined && `at least ${at.minLength} characters`,
    at.maxLength !== undefined && `at most ${at.maxLength} characters`,
    at.minItems !== undefined && `at least ${at.minItems} items`,
    at.maxItems !== undefined && `at most ${at.maxItems} items`,
    at.default !== undefined && `default ${JSON.stringify(at.default)}`,
    at.pattern !== undefined && `pattern ${at.pattern}`,
  ];
  return bounds.filter((one) => one !== false).join(', ');
}

/** Returns a schema's fields, including those of all its parts. */
export function fieldsOf(schema, schemas, depth = 0) {
  const at = resolved(schema, schemas);
  const required = new Set(at.required ?? []);
  const expected = new Set(at['x-expected'] ?? []);
  const own = Object.entries(at.properties ?? {}).map(([name, inner]) => ({
    name,
    schema: inner,
    required: required.has(name),
    expected: expected.has(name),
    // If a field has no provenance of its own, its resource's provenance applies.
    provenance: at['x-provenance'],
  }));
  const parts = depth > 6 ? [] : (at.allOf ?? []).flatMap((one) => fieldsOf(one, schemas, depth + 1));
  const merged = new Map(parts.map((field) => [field.name, field]));
  for (const field of own) merged.set(field.name, field);
  return [...merged.values()].map((field) =>
    required.has(field.name) ? Object.assign({}, field, { required: true }) : field,
  );
}

import type { ProposedSchema } from './proposed-schema.ts';

/** Describes a proposed schema in a few words, for example `object with 3 fields (id, name; sometimes size)`. */
export function schemaWords(schema: ProposedSchema): string {
  const { type, properties, required, items, additionalProperties, $ref } = schema;
  if (typeof $ref === 'string') return $ref.split('/').at(-1) ?? '';
  if (type === undefined) return 'anything';
  if (Array.isArray(type)) return (type as readonly string[]).join(' or ');
  if (type === 'array') return items === undefined ? 'array' : `array of ${schemaWords(items as ProposedSchema)}`;
  if (typeof type !== 'string') return 'anything';
  if (type !== 'object') return ['format', 'x-pii'].reduce((words, key) => words + note(schema[key]), type);
  const names = Object.keys(properties ?? {});
  if (names.length === 0)
    return additionalProperties === undefined
      ? 'object'
      : `map with data as keys and values of type ${valueWords(additionalProperties)}`;
  const always = names.filter((name) => ((required ?? []) as readonly string[]).includes(name));
  const sometimes = names.filter((name) => !always.includes(name));
  const parts = [listed(always), sometimes.length === 0 ? '' : `sometimes ${listed(sometimes)}`];
  return `object with ${names.length} ${names.length === 1 ? 'field' : 'fields'} (${parts.filter((part) => part !== '').join('; ')})`;
}

const MAX_LISTED = 12;

function listed(names: readonly string[]): string {
  const more = names.length - MAX_LISTED;
  return more > 1 ? `${names.slice(0, MAX_LISTED).join(', ')} and ${more} more` : names.join(', ');
}

const note = (word: unknown) => (typeof word === 'string' ? `, ${word}` : '');

function valueWords(schema: unknown): string {
  return typeof schema === 'object' && schema !== null ? schemaWords(schema as ProposedSchema) : 'anything';
}

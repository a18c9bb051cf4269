import { fieldsOf, resolved } from './schema-values.js';

/** The page size in sample requests. It is small so that the response fits on the screen. */
const PAGE_SIZE = 5;

/**
 * Returns initial values for the form that are sufficient for sending the request. Path parameters have sample values,
 * and lists start at their first page. Other query parameters are empty.
 */
export function firstValues({ parameters, paging }, schemas) {
  const pages = paging === undefined ? {} : { page: paging.firstPage, pageSize: PAGE_SIZE };
  const values = parameters.map(({ in: where, name, example, schema }) => {
    const value = where === 'path' ? (example ?? sampleOf(schema, schemas)) : pages[name];
    return [`${where}:${name}`, value];
  });
  return Object.fromEntries(
    values.filter(([, value]) => value !== undefined).map(([key, value]) => [key, String(value)]),
  );
}

/**
 * Returns the first example of the request body as text. If there is no example, the text contains the required fields.
 * If there is no body, the text is empty.
 */
export function firstBody({ requestBody }, schemas) {
  const content = requestBody?.content[0];
  if (content === undefined) return '';
  return pretty(content.examples[0]?.value ?? sampleOf(content.schema, schemas));
}

/** Returns a sample value for a schema. For a complex schema, the value may be invalid. */
function sampleOf(schema, schemas, depth = 0) {
  const at = resolved(schema, schemas);
  if (at.example !== undefined || at.const !== undefined) return at.example ?? at.const;
  if (at.default !== undefined || at.enum !== undefined) return at.default ?? at.enum[0];
  const option = (at.anyOf ?? at.oneOf ?? [])[0];
  const type = [at.type].flat()[0];
  if (type === undefined && option !== undefined && depth < 6) return sampleOf(option, schemas, depth + 1);
  if (type === 'integer' || type === 'number') return at.minimum ?? 1;
  if (type === 'boolean') return false;
  if (type === 'array') return [];
  if (type === 'string') return 'text';
  const fields = fieldsOf(at, schemas).filter(({ required }) => required && depth < 6);
  return Object.fromEntries(fields.map(({ name, schema: inner }) => [name, sampleOf(inner, schemas, depth + 1)]));
}

/** Formats a value as indented JSON. */
export const pretty = (value) => JSON.stringify(value, undefined, 2);

/** Indents a JSON body unless doing so would change one of its numbers. Any other body is returned unchanged. */
export function prettyBody(text, mediaType) {
  // An integer with more than 53 bits would be shown with a different value.
  if (!/json/i.test(mediaType) || /[^"\w.]\d{16,}/.test(text)) return text;
  try {
    return pretty(JSON.parse(text));
  } catch {
    return text;
  }
}

import type { OpenApiDocument, Reference } from './openapi-document.ts';

/** The last segment of a reference to a component: its name. */
export function referencedName(reference: string): string {
  return reference.slice(reference.lastIndexOf('/') + 1);
}

/** What stands in a place of the document: itself, or the component that it points to. */
export function resolve<T extends object>(
  document: OpenApiDocument,
  kind: 'parameters' | 'responses' | 'schemas' | 'examples',
  place: T | Reference,
): T {
  if (!('$ref' in place) || typeof place.$ref !== 'string') return place as T;
  const components = document.components[kind] as Readonly<Record<string, unknown>>;
  return components[referencedName(place.$ref)] as T;
}

import { escapePointer } from '../../lib/json-pointer.ts';
import type { FieldPresence } from '../../engine/model/release-statistics.ts';

const MAX_DEPTH = 6;
/** The maximum number of array elements that are examined per array. */
const MAX_ELEMENTS = 100;

/**
 * Returns the fields of a response and the places of its objects. Only names for which `isDocumented` returns true are
 * included, because any other name could be data. Nothing else about the response is returned.
 */
export function fieldPresence(json: unknown, isDocumented: (name: string) => boolean): FieldPresence {
  const objects = new Set<string>();
  const fields = new Set<string>();
  const visit = (value: unknown, at: string, depth: number): void => {
    if (typeof value !== 'object' || value === null || depth > MAX_DEPTH) return;
    if (Array.isArray(value)) {
      for (const element of (value as readonly unknown[]).slice(0, MAX_ELEMENTS)) visit(element, `${at}/*`, depth + 1);
      return;
    }
    objects.add(at);
    for (const name of Object.keys(value)) {
      if (!isDocumented(name)) continue;
      const place = `${at}/${escapePointer(name)}`;
      fields.add(place);
      visit((value as Readonly<Record<string, unknown>>)[name], place, depth + 1);
    }
  };
  visit(json, '', 0);
  return { objects, fields };
}

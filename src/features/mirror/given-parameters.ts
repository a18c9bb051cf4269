import type { Operation } from '../../engine/model/operation.ts';
import { boundedMemo } from '../../lib/bounded-maps.ts';
import { queryShape } from '../../lib/query-shape.ts';

// A query is remembered only if it is short, so that the memory that they take together is bounded.
const MAX_QUERIES = 200;
const MAX_REMEMBERED = 300;
const NOTHING: readonly string[] = [];
const NO_VALUES: ReadonlySet<string> = new Set();

/** Returns the function that finds the documented query parameters in a request. Their names are in the contract. */
export function createParametersReader(
  operations: readonly Pick<Operation, 'id' | 'parameters'>[],
): (operation: string, query: string | undefined) => readonly string[] {
  const readers = new Map(
    operations.map(({ id, parameters }) => {
      const known = new Set(parameters.flatMap(({ name, location }) => (location === 'query' ? [name] : [])));
      const read = (query: string): readonly string[] => {
        const given = new Set(new URLSearchParams(query).keys());
        return [...known].filter((name) => given.has(name));
      };
      const remembered = boundedMemo(MAX_QUERIES, read);
      return [
        id,
        (query: string) => {
          const names = queryShape(query, NO_VALUES);
          return names.length > MAX_REMEMBERED ? read(names) : remembered(names);
        },
      ];
    }),
  );
  return (operation, query) =>
    query === undefined || query === '' ? NOTHING : (readers.get(operation)?.(query) ?? NOTHING);
}

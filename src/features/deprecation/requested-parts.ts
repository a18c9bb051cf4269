import { toProjection } from '../../engine/contract/compile/decode-parameters.ts';
import type { OpenApiDocument } from '../../engine/contract/openapi-document.ts';
import { visitDocument } from '../../engine/contract/walk-schema.ts';
import { WHOLE_ITEM } from '../../engine/contract/values.ts';
import type { Arrival } from '../../engine/model/arrival.ts';
import type { Operation } from '../../engine/model/operation.ts';
import { boundedMemo } from '../../lib/bounded-maps.ts';
import { queryShape } from '../../lib/query-shape.ts';

/** The parts of an operation that a request asks for. All names are in the contract, so they contain no personal data. */
export interface Requested {
  /** The documented query parameters in the request. */
  readonly parameters: readonly string[];
  /** The top-level fields of items that a projection requests. */
  readonly fields: readonly string[];
}

const NOTHING: Requested = { parameters: [], fields: [] };

/** The name under which requested fields are counted that the contract does not contain. */
export const OTHER_FIELD = '(other)';

/** The maximum number of fields that are counted for a request. */
const MAX_FIELDS = 30;

/** The parameters whose values name fields. */
const PROJECTIONS: ReadonlySet<string> = new Set(['include', 'exclude', 'includeOnly']);

// A query is remembered only if it is short, so that the memory that they take together is bounded.
const MAX_QUERIES = 200;
const MAX_REMEMBERED = 500;

/** Returns the function that finds out what a request for a documented operation asks for. */
export function createPartsReader(
  operations: readonly Operation[],
  document: OpenApiDocument,
): (operation: string, arrival: Pick<Arrival, 'query'>) => Requested {
  const known = fieldsIn(document);
  const readers = new Map(
    operations.map((operation) => {
      const read = (query: string) => readParts(operation, query, known);
      const remembered = boundedMemo(MAX_QUERIES, read);
      return [
        operation.id,
        (query: string) => {
          const shape = queryShape(query, PROJECTIONS);
          return shape.length > MAX_REMEMBERED ? read(shape) : remembered(shape);
        },
      ];
    }),
  );
  return (operation, { query }) =>
    query === undefined || query === '' ? NOTHING : (readers.get(operation)?.(query) ?? NOTHING);
}

function readParts({ parameters, itemsAt }: Operation, query: string, known: ReadonlySet<string>): Requested {
  const given = new Map<string, string[]>();
  for (const [name, value] of new URLSearchParams(query)) {
    const values = given.get(name);
    if (values === undefined) given.set(name, [value]);
    else values.push(value);
  }
  const projection = toProjection(given, itemsAt);
  const fields = new Set<string>();
  for (const path of projection === undefined ? [] : [...projection.includeOnly, ...projection.include]) {
    if (path === WHOLE_ITEM || fields.size >= MAX_FIELDS) continue;
    const [field = ''] = path.split('.', 1);
    fields.add(known.has(field) ? field : OTHER_FIELD);
  }
  return {
    parameters: parameters.flatMap(({ name, location }) => (location === 'query' && given.has(name) ? [name] : [])),
    fields: [...fields],
  };
}

/** Returns the names of all fields in the contract. */
function fieldsIn(document: OpenApiDocument): ReadonlySet<string> {
  const names = new Set<string>();
  visitDocument(document, ({ properties = {} }) => {
    for (const name of Object.keys(properties)) names.add(name);
  });
  return names;
}

import { readLearnDocument } from '../../learner/read-learn-document.ts';
import type { Settings } from '../../engine/config/settings.ts';
import { loadSchemas } from '../../engine/contract/load-contract.ts';
import { compilePlaceSchemas, type PlaceSchema } from '../../learner/place-schema.ts';
import { keysOf, pointerTo, valueAt } from '../../lib/json-pointer.ts';
import type { LedgerEntry } from '../../engine/model/ledger-entry.ts';
import { UNDOCUMENTED_FIELD } from '../../engine/model/violation.ts';
import { toPagingOptions } from '../../engine/paging/paging-options.ts';
import { compileUndocumentedPolicy } from '../../engine/pipeline/undocumented/policy.ts';

type UnreportedSettings = Pick<
  Settings,
  'checksFor' | 'contract' | 'operations' | 'pageBounds' | 'parameters' | 'profile' | 'undocumented'
>;

/**
 * Returns a function that states why the configuration no longer reports a violation, or returns undefined if it still
 * does. In a comparison, such a violation is not gone: the operator has changed the configuration.
 */
export function createWhyUnreported(settings: UnreportedSettings): (entry: LedgerEntry) => string | undefined {
  const policy = compileUndocumentedPolicy(settings.profile.basePath, 'enforce', false, settings.undocumented.allow);
  let places: ReturnType<typeof compilePlaceSchemas> | undefined;
  let schemas: ReturnType<typeof loadSchemas> | undefined;
  return (entry) => {
    const { operation, check, direction, at, keyword, message, schemaPath, status } = entry;
    if (check !== 'upstream' && check !== 'errors' && settings.checksFor(operation)[check] === 'off')
      return `${check} is off`;
    if (check === 'undocumented' && direction === 'request') {
      const [, method = '', path = ''] = /^([A-Z-]+) (\/.*)$/.exec(at) ?? [];
      return policy(method, path, undefined).pass ? 'allowed by undocumented.allow' : undefined;
    }
    if (operation === undefined) return undefined;
    if (keyword === 'unknown' && settings.parameters.allow[operation]?.includes(at) === true)
      return 'allowed by parameters.allow';
    if (keyword === 'page_size_out_of_bounds') {
      const { maxPageSize } = toPagingOptions(settings.pageBounds, settings.operations[operation]?.pageBounds);
      const stated = Number(/ from 1 to (\d+)/.exec(message)?.[1] ?? maxPageSize);
      return maxPageSize > stated ? 'pageBounds.maxPageSize is higher' : undefined;
    }
    if (keyword === UNDOCUMENTED_FIELD) {
      places ??= compilePlaceSchemas(readLearnDocument(settings));
      return documents(places(operation, status ?? 200, false), at) ? 'the contract documents it' : undefined;
    }
    if (schemaPath === '') return undefined;
    schemas ??= loadSchemas(settings.contract);
    const [file = '', pointer = ''] = schemaPath.split('#');
    return states(schemas.get(file), pointer, entry) ? undefined : 'the contract does not state it';
  };
}

/** Returns whether a schema still contains the statement that an entry violates. */
function states(schema: unknown, pointer: string, { at, keyword }: LedgerEntry): boolean {
  const name = keysOf(at).at(-1) ?? '';
  const stated = valueAt(schema, pointer) ?? valueAt(schema, pointerTo([...keysOf(pointer), keyword]));
  if (keyword !== 'required' && keyword !== 'x-expected') return stated !== undefined;
  return Array.isArray(stated) && (stated as unknown[]).includes(name);
}

/** Returns whether a response's schema describes the field at a place, in which `*` stands for an index. */
function documents(schema: PlaceSchema | undefined, at: string): boolean {
  const found = keysOf(at).reduce((place, key) => (key === '*' ? place?.items() : place?.member(key)), schema);
  return found !== undefined;
}

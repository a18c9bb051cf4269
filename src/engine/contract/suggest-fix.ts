import { keysOf } from '../../lib/json-pointer.ts';
import { plainText } from '../../lib/plain-text.ts';
import { CHECKS } from '../model/checks.ts';
import type { LedgerEntry } from '../model/ledger-entry.ts';
import { DIFFERENCE, REHEARSAL } from '../model/violation.ts';
import type { ContractPlace } from './contract-places.ts';

/** A suggested fix for a violation. */
export interface Fix {
  /** A sentence that states what to change. */
  readonly advice: string;
  /** The lines of an OpenAPI Overlay 1.0 template. Empty if the suggested fix is not an overlay. */
  readonly overlay: readonly string[];
}

/**
 * Suggests a fix for a violation: an overlay for the contract, or another change. `basePath` is the path under which all of
 * the API's addresses lie.
 */
export function suggestFix(entry: LedgerEntry, { schema }: Pick<ContractPlace, 'schema'>, basePath: string): Fix {
  if (schema === undefined) return { advice: `To fix it, change ${placeToFix(entry, basePath)}`, overlay: [] };
  const actions = actionsOf(entry.keyword, entry.at, schema.target, schema.value);
  return {
    advice: 'If the server is right, fix the contract with this overlay (contract.overlays)',
    overlay: [
      'overlay: 1.0.0',
      `info: { title: ${JSON.stringify(plainText(entry.fingerprint))}, version: '1' }`,
      'actions:',
      ...actions.map((line) => `  ${plainText(line)}`),
    ],
  };
}

/** Suggests a fix for a violation that was not found by a schema. */
function placeToFix(entry: LedgerEntry, basePath: string): string {
  const { check, keyword } = entry;
  if (check === 'errors') return `the server, or keep its status with ${entry.suggestion ?? 'errors: legacy'}.`;
  if (entry.category === REHEARSAL)
    return 'the server, so that it responds to the request of staging as it does to that of the client.';
  if (entry.category === DIFFERENCE || entry.keyword.startsWith('compare-'))
    return 'the new server, or its data, or accept the difference if it is intended.';
  const allow = allowEntryOf(entry, basePath);
  if (allow !== undefined)
    return `the client, or add this entry to undocumented.allow: ${allowEntryLine(allow)}, or describe the path in an overlay.`;
  if (check === 'requests' && keyword === 'unknown') return 'the client, or add the parameter to parameters.allow.';
  return CHECKS[check === 'upstream' ? 'responses' : check].toFix;
}

function actionsOf(keyword: string, at: string, target: string, schema: Readonly<Record<string, unknown>>): string[] {
  if (keyword === 'required' || keyword === 'x-expected') {
    const name = keysOf(at).at(-1) ?? '';
    const listed = Array.isArray(schema[keyword]) ? (schema[keyword] as unknown[]) : [];
    const remaining = JSON.stringify(listed.filter((one) => one !== name));
    // An overlay can only append to a list. To remove a name, it must therefore remove the whole list and add the
    // list again without the name.
    return [
      select(target + childOf(keyword)),
      '  remove: true',
      select(target),
      `  update: { ${keyword}: ${remaining} }`,
    ];
  }
  if (keyword === 'enum' || keyword === 'x-expected-enum')
    return [select(target + childOf(keyword)), '  update: CORRECT-VALUE'];
  const stated = JSON.stringify(schema[keyword] ?? null);
  return [select(target), `  update: { ${JSON.stringify(keyword)}: CORRECT-VALUE }  # now ${stated}`];
}

const childOf = (keyword: string): string => (keyword.startsWith('x-') ? `['${keyword}']` : `.${keyword}`);

const select = (path: string): string => `- target: ${JSON.stringify(path)}`;

/** A suggested entry for `undocumented.allow`. */
export interface SuggestedEntry {
  readonly method: string;
  readonly path: string;
}

const METHODS: ReadonlySet<string> = new Set(['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);
/** Returns whether an entry in `undocumented.allow` can have the method. An entry for GET also allows HEAD. */
export const isAllowedMethod = (method: string): boolean => METHODS.has(method === 'HEAD' ? 'GET' : method);

const isBelow = (place: string, basePath: string) =>
  place.startsWith(basePath) && /^[^?#\s]+$/.test(place.slice(basePath.length));

/**
 * Returns whether the ledger has masked or removed parts of a path. An entry with a wildcard in their place would also
 * allow other paths, such as `admin/{name}` for requests for `admin/reindex`.
 */
function hidesText(place: string): boolean {
  return /\?|\{name\}|\*|…/.test(place);
}

/**
 * Returns the `undocumented.allow` entry that would allow the requests of a ledger entry. Returns undefined for
 * violations of other kinds, and for requests that no entry can allow.
 */
export function allowEntryOf({ check, direction, at }: LedgerEntry, basePath: string): SuggestedEntry | undefined {
  const [, method = '', place = ''] = /^([A-Z-]+) (\/.*)$/.exec(at) ?? [];
  if (check !== 'undocumented' || direction !== 'request') return undefined;
  // An entry for GET also allows HEAD.
  const allowed = method === 'HEAD' ? 'GET' : method;
  return isAllowedMethod(method) && isBelow(place, basePath) && !hidesText(place)
    ? { method: allowed, path: place }
    : undefined;
}

/** Formats an `undocumented.allow` entry as one line of YAML. */
export const allowEntryLine = ({ method, path }: SuggestedEntry): string => `- { method: ${method}, path: '${path}' }`;

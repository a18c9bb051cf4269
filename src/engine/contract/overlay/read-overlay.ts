import { readFileSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import type * as JsonP3 from 'json-p3';
import { fileReason } from '../../../lib/file-reason.ts';
import { closestName } from '../../../lib/closest-name.ts';
import { pointerTo } from '../../../lib/json-pointer.ts';
import { readYaml } from '../../../lib/read-yaml.ts';
import { type Fault, StartFault, syntaxFaults } from '../../model/fault.ts';

/** The maximum size of an overlay file, in bytes. */
const MAX_BYTES = 1024 * 1024;

/** Reads an overlay in YAML or JSON. Throws a StartFault that lists all errors in the overlay. */
export function readOverlay(file: string): Overlay {
  const text = readText(file);
  const value = parse(file, text);
  const faults = checkOverlay(value);
  if (faults.length > 0) throw new StartFault(faults.map((one) => Object.assign({ source: file }, one)));
  return { source: file, text, actions: (value as { readonly actions: readonly OverlayAction[] }).actions };
}

function readText(file: string): string {
  try {
    const { size } = statSync(file);
    if (size <= MAX_BYTES) return readFileSync(file, 'utf8');
    throw broken(file, `has ${size} bytes; the maximum is ${MAX_BYTES}`, 'split it into several overlays');
  } catch (cause) {
    if (cause instanceof StartFault) throw cause;
    throw broken(
      file,
      `the overlay cannot be read: ${fileReason(cause)}`,
      'paths in contract.overlays are relative to the configuration file',
    );
  }
}

function parse(file: string, text: string): unknown {
  try {
    // A YAML parser could also read JSON, but would take 100 times as long.
    if (text.trimStart().startsWith('{')) return JSON.parse(text) as unknown;
  } catch {
    // Text that begins with a brace may still be YAML, because flow mappings in YAML also begin with one.
  }
  const reading = readYaml(text);
  if (reading.errors !== undefined) throw new StartFault(syntaxFaults(file, reading.errors));
  return reading.value;
}

function broken(source: string, message: string, suggestion?: string): StartFault {
  return new StartFault([{ source, pointer: '', message, ...(suggestion !== undefined && { suggestion }) }]);
}

/** An action in an overlay. It is applied to every node that its target selects. */
export interface OverlayAction {
  /** The target as a JSONPath expression (RFC 9535). */
  readonly target: string;
  /** The value to merge into each selected object and to append to each selected array. Ignored if `remove` is set. */
  readonly update?: unknown;
  readonly remove?: boolean;
}

/** A valid OpenAPI Overlay 1.0 document. */
export interface Overlay {
  /** The file's path, used as the source of errors in the overlay. */
  readonly source: string;
  /** The file's content. The contract's digest is computed from it. */
  readonly text: string;
  readonly actions: readonly OverlayAction[];
}

/** The maximum number of actions. Neither people nor `portico learn` would write this many. */
const MAX_ACTIONS = 5_000;

/** The maximum nesting depth. No contract is nested this deeply. */
const MAX_DEPTH = 64;

/**
 * Checks that a parsed file is an OpenAPI Overlay 1.0 document. The returned errors point into the file but do not name
 * a source yet.
 */
function checkOverlay(value: unknown): Omit<Fault, 'source'>[] {
  if (!isJsonObject(value))
    return [fault([], `must be an object, not ${kindOfJson(value)}`, 'start it with overlay: 1.0.0')];
  const names = checkNames(value, ['overlay', 'info', 'extends', 'actions'], []);
  const faults = [
    ...names.faults,
    ...(value['overlay'] === undefined && names.misspelled.has('overlay') ? [] : versionFaults(value['overlay'])),
    ...(value['info'] === undefined && names.misspelled.has('info') ? [] : infoFaults(value['info'])),
    ...textFaults(value, 'extends', []),
  ];
  const { actions } = value;
  if (actions === undefined && names.misspelled.has('actions')) return faults;
  if (!Array.isArray(actions) || actions.length === 0)
    return [...faults, fault(['actions'], 'must be a list with at least one action')];
  if (actions.length > MAX_ACTIONS)
    return [...faults, fault(['actions'], `has ${actions.length} actions; the maximum is ${MAX_ACTIONS}`)];
  return [...faults, ...actions.flatMap((action: unknown, index) => actionFaults(action, ['actions', index]))];
}

function versionFaults(version: unknown): Omit<Fault, 'source'>[] {
  if (version === undefined)
    return [fault(['overlay'], 'is missing; it is the version of the Overlay specification', 'write overlay: 1.0.0')];
  if (typeof version === 'string' && /^1\.0\.\d+(?:-.+)?$/.test(version)) return [];
  return [fault(['overlay'], 'is not a supported version', 'write overlay: 1.0.0')];
}

function infoFaults(info: unknown): Omit<Fault, 'source'>[] {
  if (!isJsonObject(info)) return [fault(['info'], 'must be an object with title and version')];
  const { faults, misspelled } = checkNames(info, ['title', 'version'], ['info']);
  const found = ['title', 'version'].filter((name) => info[name] !== undefined || !misspelled.has(name));
  return [
    ...faults,
    ...found.flatMap((name) =>
      info[name] === undefined
        ? [fault(['info', name], 'is missing', `add ${name}`)]
        : textFaults(info, name, ['info']),
    ),
  ];
}

function actionFaults(action: unknown, at: readonly (string | number)[]): Omit<Fault, 'source'>[] {
  if (!isJsonObject(action)) return [fault(at, `must be an object, not ${kindOfJson(action)}`)];
  const { target, update, remove } = action;
  const { faults: unknown, misspelled } = checkNames(action, ['target', 'description', 'update', 'remove'], at);
  const faults = [
    ...unknown,
    ...textFaults(action, 'description', at),
    ...(target === undefined && misspelled.has('target') ? [] : targetFaults(target, [...at, 'target'])),
  ];
  const isMisspelled = misspelled.has('update') || misspelled.has('remove');
  if (remove !== undefined && typeof remove !== 'boolean')
    faults.push(fault([...at, 'remove'], `must be true or false, not ${kindOfJson(remove)}`));
  else if (remove !== true && !Object.hasOwn(action, 'update') && !isMisspelled)
    faults.push(fault(at, 'does nothing', 'add update, or remove: true'));
  return [...faults, ...contentFaults(update, [...at, 'update'])];
}

function targetFaults(target: unknown, at: readonly (string | number)[]): Omit<Fault, 'source'>[] {
  if (typeof target !== 'string')
    return [fault(at, 'must be a JSONPath expression', "write one like $.paths['/path']")];
  try {
    jsonPath().compile(target);
    return [];
  } catch {
    return [fault(at, 'is not a JSONPath expression', "write one like $.paths['/path']; see RFC 9535 for the syntax")];
  }
}

/** Finds members that would change a prototype, and values that are nested too deeply. */
function contentFaults(value: unknown, at: readonly (string | number)[], depth = 0): Omit<Fault, 'source'>[] {
  if (typeof value !== 'object' || value === null) return [];
  if (depth > MAX_DEPTH) return [fault(at, `is nested more than ${MAX_DEPTH} levels deep`)];
  if (Object.hasOwn(value, '__proto__')) return [fault([...at, '__proto__'], 'is a forbidden name')];
  const children: [string | number, unknown][] = Array.isArray(value) ? [...value.entries()] : Object.entries(value);
  return children.flatMap(([key, child]) => contentFaults(child, [...at, key], depth + 1));
}

function textFaults(owner: JsonObject, name: string, at: readonly (string | number)[]): Omit<Fault, 'source'>[] {
  const value = owner[name];
  if (value === undefined || typeof value === 'string') return [];
  return [fault([...at, name], `must be a string, not ${kindOfJson(value)}`, 'put it in quotation marks')];
}

/** Returns the errors in an object's names, and the known names that were probably meant by unknown ones. */
function checkNames(
  owner: JsonObject,
  known: readonly string[],
  at: readonly (string | number)[],
): { readonly faults: Omit<Fault, 'source'>[]; readonly misspelled: ReadonlySet<string> } {
  const misspelled = new Set<string>();
  const faults = Object.keys(owner)
    .filter((name) => !known.includes(name) && !name.startsWith('x-'))
    .map((name) => {
      const meant = closestName(name, known);
      if (meant !== undefined) misspelled.add(meant);
      return fault([...at, name], 'is not allowed here; names of extensions start with x-', meant);
    });
  return { faults, misspelled };
}

function fault(at: readonly (string | number)[], message: string, suggestion?: string): Omit<Fault, 'source'> {
  return { pointer: pointerTo(at), message, ...(suggestion !== undefined && { suggestion }) };
}

/** A mutable JSON object. */
export type JsonObject = Record<string, unknown>;

/** Returns true for a JSON object, and false for an array or null. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Returns a value's kind as shown in messages, such as `an array`. */
export function kindOfJson(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'an array';
  return { object: 'an object', string: 'a string', number: 'a number', boolean: 'a boolean' }[
    typeof value as 'object'
  ];
}

/** Returns the number of values inside a value, plus one for the value itself. */
export function countValues(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 1;
  return Object.values(value).reduce<number>((sum, child) => sum + countValues(child), 1);
}

let loaded: typeof JsonP3.jsonpath | undefined;

/** Returns the JSONPath library (RFC 9535), which is loaded on first use because only overlays need it. */
export function jsonPath(): typeof JsonP3.jsonpath {
  return (loaded ??= (createRequire(import.meta.url)('json-p3') as typeof JsonP3).jsonpath);
}

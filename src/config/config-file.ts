import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { type Document, isMap, isPair, isScalar, LineCounter, parseDocument, type YAMLError } from 'yaml';
import { keysOf } from '../lib/json-pointer.ts';
import type { Fault } from '../model/fault.ts';
import type { Environment } from './environment.ts';
import { packageRoot } from '../files/package-root.ts';
import { isPlainObject, type PlainObject, withoutNulls } from './plain-object.ts';

/** The configuration file as it was read. */
export interface ConfigFile {
  /** The file as it is named to people: relative to the working folder where that is shorter. */
  readonly name: string;
  /** The folder that relative paths in the file start from. */
  readonly folder: string;
  readonly value: PlainObject;
  readonly faults: readonly Fault[];
  /** The file with the line of what a JSON pointer names, for faults. */
  locate(pointer: string): string;
}

const MAX_BYTES = 1024 * 1024;
const MAX_ALIASES = 50;

/** Finds the file: `PORTICO_CONFIG`, else `config/portico.yaml` in the working folder, else the one of this package. */
export function configPath(environment: Environment, cwd: string): string {
  const named = environment['PORTICO_CONFIG'];
  if (named !== undefined && named !== '') return resolve(cwd, named);
  const local = join(cwd, 'config', 'portico.yaml');
  return existsSync(local) ? local : join(packageRoot, 'config', 'portico.yaml');
}

/** Reads a configuration file; what is wrong with it as YAML is in `faults`, with lines. */
export function readConfigFile(path: string, cwd: string): ConfigFile {
  const near = relative(cwd, path);
  const name = near.startsWith('..') ? path : near;
  const folder = dirname(path);
  const failed = (message: string): ConfigFile => ({
    name,
    folder,
    value: {},
    faults: [{ source: name, pointer: '', message }],
    locate: () => name,
  });
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    return failed(
      `cannot be read (${error instanceof Error && 'code' in error ? String(error.code) : 'unknown reason'})`,
    );
  }
  if (text.length > MAX_BYTES) return failed('is larger than 1 MiB');
  return parseConfig(text, name, folder);
}

/** Parses the text of a configuration file. */
function parseConfig(text: string, name: string, folder: string): ConfigFile {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, uniqueKeys: true, prettyErrors: false });
  const at = (offset: number | undefined) => (offset === undefined ? name : `${name}:${lines.linePos(offset).line}`);
  const locate = (pointer: string) => at(offsetOf(document, pointer));
  const faults: Fault[] = [...document.errors, ...document.warnings].map((problem) => ({
    source: at(problem.pos[0]),
    pointer: '',
    message: yamlMessage(problem),
  }));
  const result = { name, folder, locate };
  if (faults.length > 0) return { ...result, value: {}, faults };
  try {
    const value = withoutNulls(document.toJS({ maxAliasCount: MAX_ALIASES })) ?? {};
    if (isPlainObject(value)) return { ...result, value, faults };
    return { ...result, value: {}, faults: [{ source: name, pointer: '', message: 'must be a mapping of keys' }] };
  } catch (error) {
    return { ...result, value: {}, faults: [{ source: name, pointer: '', message: aliasMessage(error) }] };
  }
}

function offsetOf(document: Document, pointer: string): number | undefined {
  const path = keysOf(pointer);
  const key = path.at(-1);
  const parent = document.getIn(path.slice(0, -1), true);
  if (key === undefined) return undefined;
  if (isMap(parent)) {
    const pair = parent.items.find((item) => isPair(item) && isScalar(item.key) && String(item.key.value) === key);
    if (isScalar(pair?.key)) return pair.key.range?.[0];
  }
  const node = document.getIn(path, true);
  return isScalar(node) || isMap(node) ? node.range?.[0] : undefined;
}

const QUOTING: Readonly<Record<string, string>> = {
  TAG_RESOLVE_FAILED: 'has a tag that is not known; a text that begins with ! needs quotes',
  BAD_DIRECTIVE: 'has a directive that is not known; a text that begins with % needs quotes',
  BAD_DQ_ESCAPE: 'has an escape sequence that YAML does not know; in single quotes there are none',
};

/** What is wrong with a text as YAML, without the part of it that the parser quotes: it may be half a password. */
export function yamlMessage({ code, message }: Pick<YAMLError, 'code' | 'message'>): string {
  const own = QUOTING[code];
  if (own !== undefined) return own;
  if (code !== 'UNEXPECTED_TOKEN') return message;
  if (message.startsWith('Block scalar header'))
    return 'has a block without lines; a text that begins with | or > needs quotes';
  return message.split(':', 1)[0] ?? '';
}

/** Why aliases could not be followed, without the name of one. */
export function aliasMessage(error: unknown): string {
  const unknown = error instanceof Error && error.message.startsWith('Unresolved alias');
  return unknown ? 'has an alias that leads nowhere; a text that begins with * needs quotes' : 'uses too many aliases';
}

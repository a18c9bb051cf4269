import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseDocument } from 'yaml';
import { type Fault, StartFault } from '../../model/fault.ts';
import { checkExtensions } from './check-extensions.ts';
import { CONTRACT_SOURCE } from '../contract-files.ts';
import type { OpenApiDocument } from '../openapi-document.ts';

/** The source files of the contract document. */
export interface DocumentSource {
  /** The content of `openapi.yaml`. */
  readonly text: string;
  /** The JSON Schema of the document's vendor extensions. */
  readonly extensions: string;
}

/** Returns the paths of the document's source files in a contract folder. */
export function documentFiles(folder: string): readonly [text: string, extensions: string] {
  return [join(folder, 'openapi.yaml'), join(folder, 'vendor-extensions.schema.json')];
}

/** Reads the files in a folder. Throws a StartFault if a file cannot be read. */
export function readSource(folder: string): DocumentSource {
  const [text, extensions] = documentFiles(folder);
  return { text: readText(text), extensions: readText(extensions) };
}

/** Parses the document and checks its vendor extensions. Throws a StartFault that lists all errors. */
export function parseSource({ text, extensions }: DocumentSource): OpenApiDocument {
  const parsed = parseDocument(text);
  const syntax = parsed.errors.map((error) => fault('', error.message.split('\n', 1)[0] ?? 'is not YAML'));
  if (syntax.length > 0) throw new StartFault(syntax);
  const document: unknown = parsed.toJS();
  const faults = checkExtensions(document, extensions);
  if (faults.length > 0) throw new StartFault(faults);
  return document as OpenApiDocument;
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (cause) {
    const code = cause instanceof Error && 'code' in cause ? String(cause.code) : 'unknown error';
    throw new StartFault([{ source: path, pointer: '', message: `cannot be read (${code})` }]);
  }
}

function fault(pointer: string, message: string): Fault {
  return { source: CONTRACT_SOURCE, pointer, message };
}

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseDocument } from 'yaml';
import { type Fault, StartFault } from '../model/fault.ts';
import { CONTRACT_SOURCE } from './contract-files.ts';
import { checkDocument } from './check-document.ts';
import { checkExtensions } from './check-extensions.ts';
import type { OpenApiDocument } from './openapi-document.ts';

/** The document and the text it was read from. */
export interface ReadDocument {
  readonly document: OpenApiDocument;
  readonly text: string;
}

/** Reads `openapi.yaml` in a folder and checks what Portico needs of it; throws a StartFault with everything wrong. */
export function readDocument(folder: string): ReadDocument {
  const text = readText(join(folder, 'openapi.yaml'));
  const parsed = parseDocument(text);
  const syntax = parsed.errors.map((error) => fault('', error.message.split('\n', 1)[0] ?? 'not YAML'));
  if (syntax.length > 0) throw new StartFault(syntax);
  const document: unknown = parsed.toJS();
  const extensions = checkExtensions(document, readText(join(folder, 'vendor-extensions.schema.json')));
  if (extensions.length > 0) throw new StartFault(extensions);
  const checked = document as OpenApiDocument;
  const faults = checkDocument(checked);
  if (faults.length > 0) throw new StartFault(faults);
  return { document: checked, text };
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

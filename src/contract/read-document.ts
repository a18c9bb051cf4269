import { StartFault } from '../model/fault.ts';
import { checkDocument } from './check-document.ts';
import { parseSource, readSource } from './document-source.ts';
import type { OpenApiDocument } from './openapi-document.ts';
import { readParsed } from './parsed-document.ts';

/** The document and the text it was read from. */
export interface ReadDocument {
  readonly document: OpenApiDocument;
  readonly text: string;
}

/** Reads the document in a folder and checks what Portico needs of it; throws a StartFault with everything wrong. */
export function readDocument(folder: string): ReadDocument {
  const source = readSource(folder);
  // Parsing YAML takes a hundred times as long as reading what was parsed from the same text before.
  const document = readParsed(folder, source) ?? parseSource(source);
  const faults = checkDocument(document);
  if (faults.length > 0) throw new StartFault(faults);
  return { document, text: source.text };
}

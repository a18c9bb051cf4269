import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { DocumentSource } from './document-source.ts';
import type { OpenApiDocument } from './openapi-document.ts';

/** The generated file that holds the document as it was parsed and checked, from the folder of schemas. */
export const PARSED_FILE = 'openapi.parsed.json';

/** What the generated file holds. */
export interface ParsedDocument {
  readonly $comment: string;
  /** Of the texts that the document was parsed from and checked with. */
  readonly digest: string;
  readonly document: OpenApiDocument;
}

/** The digest of the texts that a document is parsed from and checked with. */
export function sourceDigest({ text, extensions }: DocumentSource): string {
  return createHash('sha256').update(text).update('\0').update(extensions).digest('hex');
}

/** The document as it was parsed when the schemas were generated; undefined unless that was from these very texts. */
export function readParsed(folder: string, source: DocumentSource): OpenApiDocument | undefined {
  try {
    const { digest, document } = JSON.parse(readFileSync(join(folder, PARSED_FILE), 'utf8')) as ParsedDocument;
    return digest === sourceDigest(source) ? document : undefined;
  } catch {
    // It only saves time: whoever changes the YAML and generates nothing gets the YAML.
    return undefined;
  }
}

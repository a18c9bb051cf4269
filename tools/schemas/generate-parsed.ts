import type { DocumentSource } from '../../src/contract/document-source.ts';
import type { OpenApiDocument } from '../../src/contract/openapi-document.ts';
import { type ParsedDocument, sourceDigest } from '../../src/contract/parsed-document.ts';

/** The text of the file that spares starts the parsing of YAML. */
export function generateParsed(source: DocumentSource, document: OpenApiDocument): string {
  const parsed: ParsedDocument = {
    $comment: 'Generated from schemas/openapi.yaml by npm run schemas; do not edit.',
    digest: sourceDigest(source),
    document,
  };
  return `${JSON.stringify(parsed, undefined, 1)}\n`;
}

import { type Fault, StartFault } from '../model/fault.ts';
import { checkDocument } from './check-document.ts';
import { checkExtensions } from './check-extensions.ts';
import { checkSchemas } from './check-schemas.ts';
import { parseSource, readSource } from './document-source.ts';
import { generateSchemas } from './generate/generate-schemas.ts';
import { toDocumentFault } from './generate/place-of-schema.ts';
import type { OpenApiDocument } from './openapi-document.ts';
import { applyOverlays } from './overlay/apply-overlays.ts';
import { placeFaults } from './overlay/place-faults.ts';
import { readParsed } from './parsed-document.ts';
import { readSchemas } from './schema-store.ts';

/** The document, what is generated from it, and the texts that both were read from. */
export interface ReadDocument {
  readonly document: OpenApiDocument;
  /** The document and the overlays as they are written, for the digest. */
  readonly texts: readonly string[];
  /** The texts of the generated schemas by file. */
  readonly schemas: ReadonlyMap<string, string>;
  /** Names the overlay for each fault of what was generated, where there are overlays. */
  readonly placed: (faults: readonly Fault[]) => readonly Fault[];
  /** Told, and no reason not to start. */
  readonly warnings: readonly Fault[];
}

/** Reads the document in a folder, applies overlays to it and checks what Portico needs of it; throws a StartFault with everything wrong. */
export function readDocument(folder: string, overlays: readonly string[]): ReadDocument {
  const source = readSource(folder);
  // Parsing YAML takes a hundred times as long as reading what was parsed from the same text before.
  const document = readParsed(folder, source) ?? parseSource(source);
  const faults = checkDocument(document);
  if (faults.length > 0) throw new StartFault(faults);
  const [last] = overlays.slice(-1);
  if (last !== undefined) return overlaid(document, source, overlays, last);
  return { document, texts: [source.text], schemas: readSchemas(folder), placed: (found) => found, warnings: [] };
}

function overlaid(
  base: OpenApiDocument,
  { text, extensions }: ReturnType<typeof readSource>,
  files: readonly string[],
  last: string,
): ReadDocument {
  const { document, texts, origins, warnings } = applyOverlays(base, files);
  const placed = (found: readonly Fault[]) => placeFaults(found, document, origins, last);
  const unlike = checkExtensions(document, extensions);
  if (unlike.length > 0) throw new StartFault(placed(unlike));
  const checked = document as OpenApiDocument;
  const faults = [...checkSchemas(checked), ...checkDocument(checked)];
  if (faults.length > 0) throw new StartFault(placed(faults));
  return {
    document: checked,
    texts: [text, ...texts],
    schemas: generateSchemas(checked),
    placed: (found) => placed(found.map((fault) => toDocumentFault(checked, fault))),
    warnings,
  };
}

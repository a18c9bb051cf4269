import { type Fault, StartFault } from '../../model/fault.ts';
import { checkDocument, checkSchemas } from './check-document.ts';
import { checkExtensions } from './check-extensions.ts';
import { parseWithCache, readSource } from './document-source.ts';
import { toDocumentFault } from '../generate/generate-schemas.ts';
import type { OpenApiDocument } from '../openapi-document.ts';
import { applyOverlays, placeFaults } from '../overlay/apply-overlays.ts';

/** The document and its sources. */
interface ReadDocument {
  readonly document: OpenApiDocument;
  /** The sources of the document and its overlays, as strings. The contract's digest is computed from them. */
  readonly texts: readonly string[];
  /**
   * Returns the errors after replacing each location in a generated schema with the corresponding location in the
   * document or in an overlay.
   */
  readonly locateFaults: (faults: readonly Fault[]) => readonly Fault[];
  /** Problems that do not prevent startup. */
  readonly warnings: readonly Fault[];
}

/**
 * Reads the document in a folder, applies the overlays and checks the result. Throws a StartFault that lists all
 * errors.
 */
export function readDocument(folder: string, overlays: readonly string[]): ReadDocument {
  const source = readSource(folder);
  const document = parseWithCache(source);
  const [last] = overlays.slice(-1);
  const faults = [...(last === undefined ? checkSchemas(document) : []), ...checkDocument(document)];
  if (faults.length > 0) throw new StartFault(faults);
  if (last !== undefined) return applyAndCheck(document, source, overlays, last);
  const locateFaults = (found: readonly Fault[]) => found.map((fault) => toDocumentFault(document, fault));
  return { document, texts: [source.text], locateFaults, warnings: [] };
}

function applyAndCheck(
  base: OpenApiDocument,
  { text, extensions }: ReturnType<typeof readSource>,
  files: readonly string[],
  last: string,
): ReadDocument {
  const { document, texts, origins, warnings } = applyOverlays(base, files);
  const locateFaults = (found: readonly Fault[]) => placeFaults(found, document, origins, last);
  const invalid = checkExtensions(document, extensions);
  if (invalid.length > 0) throw new StartFault(locateFaults(invalid));
  const checked = document as OpenApiDocument;
  const faults = [...checkSchemas(checked), ...checkDocument(checked)];
  if (faults.length > 0) throw new StartFault(locateFaults(faults));
  return {
    document: checked,
    texts: [text, ...texts],
    locateFaults: (found) => locateFaults(found.map((fault) => toDocumentFault(checked, fault))),
    warnings,
  };
}

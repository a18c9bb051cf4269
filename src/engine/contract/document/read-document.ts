import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readYaml } from '../../../lib/read-yaml.ts';
import { type Fault, StartFault, syntaxFaults } from '../../model/fault.ts';
import { checkDocument, checkSchemas, patternsIn, patternWarnings, requirementWarnings } from './check-document.ts';
import { checkExtensions } from './check-extensions.ts';
import { toDocumentFault } from '../generate/generate-schemas.ts';
import type { OpenApiDocument } from '../openapi-document.ts';
import { applyOverlays, placeFaults } from '../overlay/apply-overlays.ts';
import { fileReason } from '../../../lib/file-reason.ts';
import { openStoredResults, resultKey } from '../../../lib/stored-results.ts';
import { CONTRACT_SOURCE, contractFolder } from '../contract-files.ts';
import type { ContractOptions } from '../contract-options.ts';
import type { ContractRules } from '../rules.ts';

/** The document and its sources. */
interface ReadDocument {
  readonly document: OpenApiDocument;
  /** The sources of the document and its overlays, as strings. The contract's digest is computed from them. */
  readonly texts: readonly string[];
  /**
   * Returns the errors with each location in a generated schema replaced by the corresponding location in the document
   * or in an overlay.
   */
  readonly locateFaults: (faults: readonly Fault[]) => readonly Fault[];
  /** Finds problems that do not prevent startup. */
  readonly warnings: () => readonly Fault[];
}

/**
 * Reads the document in a folder, applies the overlays and checks the result. Throws a StartFault that lists all
 * errors.
 */
export function readDocument(
  folder: string,
  { overlays, rules }: Pick<ContractOptions, 'overlays' | 'rules'>,
): ReadDocument {
  const source = readSource(folder);
  const document = parseWithCache(source);
  const [last] = overlays.slice(-1);
  const faults = [...(last === undefined ? checkSchemas(document) : []), ...checkDocument(document, rules)];
  if (faults.length > 0) throw new StartFault(faults);
  // Checking patterns takes a tenth of a second, and a test has checked those of the shipped contract.
  const trusted = () => (folder === contractFolder() ? patternsIn(document) : new Set<string>());
  if (last !== undefined) return applyAndCheck(document, source, overlays, { last, trusted, rules });
  const locateFaults = (found: readonly Fault[]) => found.map((fault) => toDocumentFault(document, fault));
  return { document, texts: [source.text], locateFaults, warnings: () => documentWarnings(document, trusted()) };
}

function documentWarnings(document: OpenApiDocument, trusted: ReadonlySet<string>): Fault[] {
  return [...requirementWarnings(document), ...patternWarnings(document, trusted)];
}

function applyAndCheck(
  base: OpenApiDocument,
  { text, extensions }: ReturnType<typeof readSource>,
  files: readonly string[],
  {
    last,
    trusted,
    rules,
  }: { readonly last: string; readonly trusted: () => ReadonlySet<string>; readonly rules: ContractRules },
): ReadDocument {
  const { document, texts, origins, warnings } = applyOverlays(base, files);
  const locateFaults = (found: readonly Fault[]) => placeFaults(found, document, origins, last);
  const invalid = checkExtensions(document, extensions);
  if (invalid.length > 0) throw new StartFault(locateFaults(invalid));
  const checked = document as OpenApiDocument;
  const faults = [...checkSchemas(checked), ...checkDocument(checked, rules)];
  if (faults.length > 0) throw new StartFault(locateFaults(faults));
  return {
    document: checked,
    texts: [text, ...texts],
    locateFaults: (found) => locateFaults(found.map((fault) => toDocumentFault(checked, fault))),
    warnings: () => [...warnings, ...locateFaults(documentWarnings(checked, trusted()))],
  };
}

/** The source files of the contract document. */
interface DocumentSource {
  /** The content of `openapi.yaml`. */
  readonly text: string;
  /** The JSON Schema for the document's vendor extensions. */
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
  const reading = readYaml(text);
  if (reading.errors !== undefined) throw new StartFault(syntaxFaults(CONTRACT_SOURCE, reading.errors));
  const document = reading.value;
  const faults = checkExtensions(document, extensions);
  if (faults.length > 0) throw new StartFault(faults);
  return document as OpenApiDocument;
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (cause) {
    const suggestion = 'set contract.folder to the folder that contains openapi.yaml and vendor-extensions.schema.json';
    throw new StartFault([{ source: path, pointer: '', message: `cannot be read: ${fileReason(cause)}`, suggestion }]);
  }
}

/**
 * The format version of stored documents. Increase it if the format or the parsing changes but the package version does
 * not.
 */
const FORMAT = 1;

/**
 * Returns the parsed document from a source. The result is stored for the next start, because parsing the YAML takes a
 * quarter of a second, whereas reading a stored result takes only two milliseconds. Throws a StartFault that lists all
 * errors in the syntax and the vendor extensions.
 */
export function parseWithCache(source: DocumentSource, folder?: string): OpenApiDocument {
  const results = openStoredResults('contract', folder);
  const key = resultKey([String(FORMAT), source.text, source.extensions]);
  const stored = results.read(key);
  if (stored !== undefined) return JSON.parse(stored) as OpenApiDocument;
  const text = JSON.stringify(parseSource(source));
  results.write(key, text);
  // The document is parsed from JSON even on the first start, so that every start uses an identical document.
  return JSON.parse(text) as OpenApiDocument;
}

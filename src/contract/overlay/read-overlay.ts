import { readFileSync, statSync } from 'node:fs';
import { parseDocument } from 'yaml';
import { StartFault } from '../../model/fault.ts';
import { checkOverlay } from './check-overlay.ts';

/** The largest file that is read, in bytes. */
const MAX_BYTES = 1024 * 1024;

/** Reads an overlay in YAML or JSON; throws a StartFault with all errors in it. */
export function readOverlay(file: string): Overlay {
  const text = readText(file);
  const value = parse(file, text);
  const faults = checkOverlay(value);
  if (faults.length > 0) throw new StartFault(faults.map((fault) => Object.assign({ source: file }, fault)));
  return { source: file, text, actions: (value as { readonly actions: readonly OverlayAction[] }).actions };
}

function readText(file: string): string {
  try {
    const { size } = statSync(file);
    if (size <= MAX_BYTES) return readFileSync(file, 'utf8');
    throw broken(file, `has ${size} bytes; at most ${MAX_BYTES} are read`, 'divide it into several overlays');
  } catch (cause) {
    if (cause instanceof StartFault) throw cause;
    const code = cause instanceof Error && 'code' in cause ? String(cause.code) : 'unknown error';
    throw broken(
      file,
      `the overlay cannot be read (${code})`,
      'contract.overlays names files relative to the configuration',
    );
  }
}

function parse(file: string, text: string): unknown {
  try {
    // JSON is valid YAML, but a YAML parser takes a hundred times as long.
    if (text.trimStart().startsWith('{')) return JSON.parse(text) as unknown;
  } catch {
    // A YAML flow mapping starts with a brace too.
  }
  try {
    const document = parseDocument(text);
    const [error] = document.errors;
    if (error !== undefined) throw error;
    return document.toJS() as unknown;
  } catch (error) {
    const [message] = (error instanceof Error ? error.message : '').split('\n', 1);
    throw broken(file, `is neither YAML nor JSON: ${message ?? ''}`);
  }
}

function broken(source: string, message: string, suggestion?: string): StartFault {
  return new StartFault([{ source, pointer: '', message, ...(suggestion !== undefined && { suggestion }) }]);
}

/** One action of an overlay, applied to every node that its target selects. */
export interface OverlayAction {
  /** A JSONPath expression (RFC 9535). */
  readonly target: string;
  /** The value merged into selected objects and appended to selected arrays; ignored together with `remove`. */
  readonly update?: unknown;
  readonly remove?: boolean;
}

/** A checked OpenAPI Overlay 1.0 document. */
export interface Overlay {
  /** The path of the file, which faults name as their source. */
  readonly source: string;
  /** The content of the file, for the digest. */
  readonly text: string;
  readonly actions: readonly OverlayAction[];
}

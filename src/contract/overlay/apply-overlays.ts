import { type Fault, StartFault } from '../../model/fault.ts';
import { type ApplyNotes, applyOverlay } from './apply-overlay.ts';
import type { JsonObject } from './json.ts';
import { createOrigins, type Origins } from './origins.ts';
import { type Overlay, readOverlay } from './read-overlay.ts';

/** A document to which overlays have been applied. */
interface Overlaid {
  readonly document: unknown;
  /** The source texts of the overlays. The contract's digest is computed from them. */
  readonly texts: readonly string[];
  readonly origins: Origins;
  /** Problems that do not prevent startup, namely targets that match nothing. */
  readonly warnings: readonly Fault[];
}

/**
 * Reads overlays and applies them in order to a copy of a document. Throws a StartFault that lists all errors in the
 * overlays.
 */
export function applyOverlays(base: unknown, files: readonly string[]): Overlaid {
  const overlays = readAll(files);
  // The copy is made through JSON, because a YAML alias creates a shared object, and changing it would change every
  // place that uses the alias.
  const document = JSON.parse(JSON.stringify(base)) as JsonObject;
  const notes: ApplyNotes = { origins: createOrigins(), faults: [], warnings: [], added: 0 };
  for (const overlay of overlays) applyOverlay(document, overlay, notes);
  // A wildcard causes the same fault at every node that it matches.
  const faults = [...new Map(notes.faults.map((fault) => [`${fault.source} ${fault.pointer}`, fault])).values()];
  if (faults.length > 0) throw new StartFault(faults);
  return { document, texts: overlays.map(({ text }) => text), origins: notes.origins, warnings: notes.warnings };
}

function readAll(files: readonly string[]): Overlay[] {
  const faults: Fault[] = [];
  const overlays = files.flatMap((file) => {
    try {
      return [readOverlay(file)];
    } catch (error) {
      if (!(error instanceof StartFault)) throw error;
      faults.push(...error.faults);
      return [];
    }
  });
  if (faults.length > 0) throw new StartFault(faults);
  return overlays;
}

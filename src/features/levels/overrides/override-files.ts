import { IN_MEMORY, replaceFile } from '../../../lib/replace-file.ts';
import { instantOf, objectOf, parseState, readIfExists } from '../../../lib/state-file.ts';
import type { Operator, Override } from './override.ts';
import { MAX_OVERRIDE_HOURS } from './overrides-options.ts';
import { readOverride } from './read-override.ts';

/** Stores the active overrides, so that they survive restarts. */
export interface OverrideFiles {
  /**
   * Replaces the stored active overrides in the background. They are written once `recorded` resolves, so that a crash
   * cannot leave an override without an entry in the audit trail. `recorded` resolves to false if there is no entry.
   */
  replace(active: readonly Override[], recorded?: Promise<boolean>): void;
  /** Waits until all writes have succeeded or failed. Returns false if the latest write failed. */
  written(): Promise<boolean>;
}

/** Reads the stored overrides. Throws an error if they are invalid. */
export function readOverrideFile(file: string): readonly Override[] {
  const text = file === IN_MEMORY ? undefined : readIfExists(file);
  return text === undefined ? [] : parseOverrides(text);
}

/**
 * Creates the writer. `onError` is called for each failed write. After a failed write, the overrides remain only in
 * memory.
 */
export function createOverrideFiles(file: string, onError: (error: unknown) => void): OverrideFiles {
  let writing = Promise.resolve(true);
  return {
    replace(active, recorded = Promise.resolve(true)) {
      if (file === IN_MEMORY) return;
      writing = writing.then(async () => {
        const isRecorded = await recorded;
        try {
          await replaceFile(file, formatOverrides(active), 0o600);
          return isRecorded;
        } catch (error) {
          onError(error);
          return false;
        }
      });
    },
    written: () => writing,
  };
}

/** Formats the active overrides as indented JSON. */
export function formatOverrides(overrides: readonly Override[]): string {
  return `${JSON.stringify({ version: 1, overrides: overrides.map(overrideJson) }, null, 2)}\n`;
}

/** Converts an override to JSON. Instants are in ISO 8601 format. */
export function overrideJson({ setAt, until, ...override }: Override) {
  return { ...override, setAt: isoOf(setAt), until: isoOf(until) };
}

/** Parses the active overrides. If the content is invalid, throws an error that describes the problem. */
export function parseOverrides(text: string): readonly Override[] {
  const { version, overrides } = parseState(text);
  if (version !== 1) throw new Error('version must be 1');
  if (!Array.isArray(overrides)) throw new Error('overrides must be a list');
  return overrides.map((value: unknown, index) => toOverride(value, `overrides[${index}]`));
}

const isoOf = (instant: number) => new Date(instant).toISOString();

function toOverride(value: unknown, place: string): Override {
  const { setAt, from, ...request } = objectOf(value, place);
  const { operation } = request;
  const since = instantOf(setAt, `${place}.setAt`);
  if (typeof operation !== 'string') throw new Error(`${place}.operation must be text`);
  // The contract may have changed since the override was stored, and may no longer contain the operation.
  const operations = new Map([[operation, { isStored: true, transparent: false }]]);
  const read = readOverride(request, { operations, maxHours: MAX_OVERRIDE_HOURS }, since);
  if ('operation' in read) return { ...read, ...operatorOf({ by: read.by, from }), setAt: since };
  throw new Error(read.map(({ field, message }) => `${place}.${field}: ${message}`).join(' '));
}

function operatorOf({ by, from }: Readonly<Record<string, unknown>>): Operator {
  return { by: typeof by === 'string' ? by : undefined, from: typeof from === 'string' ? from : undefined };
}

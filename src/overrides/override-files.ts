import { open, rename } from 'node:fs/promises';
import { dirname } from 'node:path';
import { IN_MEMORY, makeFolder, replaceFile } from '../files/replace-file.ts';
import { readIfExists, instantOf, objectOf, parseState } from '../files/state-file.ts';
import type { Override, Operator } from './override.ts';
import { MAX_OVERRIDE_HOURS } from './overrides-options.ts';
import { readOverride } from './read-override.ts';

/** Stores the active overrides and the audit trail, so that they survive restarts. */
export interface OverrideFiles {
  /** Appends an event to the audit trail and replaces the stored active overrides. Both happen in the background. */
  record(event: OverrideEvent, active: readonly Override[]): void;
  /** Replaces the stored active overrides in the background, after other gateways have changed them. */
  replace(active: readonly Override[]): void;
  /** Waits until all writes have succeeded or failed. Returns false if the latest write failed. */
  written(): Promise<boolean>;
}

/** The contents of the override files at startup. */
export interface StoredOverrides {
  readonly active: readonly Override[];
  /** The latest events in the audit trail, oldest first. */
  readonly events: readonly OverrideEvent[];
}

/** The size, in bytes, at which the audit trail is moved to a second file, whose previous content is overwritten. */
export const MAX_TRAIL_BYTES = 1_048_576;

/** The maximum number of events to read at startup and show to operators. */
export const SHOWN_EVENTS = 100;

/** Reads the stored overrides. Throws an error if they are invalid. Damaged lines in the audit trail are skipped. */
export function readOverrideFiles(file: string): StoredOverrides {
  if (file === IN_MEMORY) return { active: [], events: [] };
  const text = readIfExists(file);
  const { current, previous } = trailOf(file);
  const lines = [previous, current].flatMap((one) => (readIfExists(one) ?? '').split('\n'));
  const events = lines.flatMap((line) => parseEvent(line) ?? []).slice(-SHOWN_EVENTS);
  return { active: text === undefined ? [] : parseOverrides(text), events };
}

/**
 * Creates the writer. `onError` is called for each failed write. After a failed write, the overrides remain only in
 * memory.
 */
export function createOverrideFiles(
  file: string,
  onError: (error: unknown) => void,
  maxTrailBytes = MAX_TRAIL_BYTES,
): OverrideFiles {
  let writing = Promise.resolve(true);
  const attempt = async (work: () => Promise<void>): Promise<boolean> => {
    try {
      await work();
      return true;
    } catch (error) {
      onError(error);
      return false;
    }
  };
  return {
    record(event, active) {
      if (file === IN_MEMORY) return;
      writing = writing.then(async () => {
        // The event is written first, so that a crash cannot leave an override without an entry in the audit trail.
        const appended = await attempt(() => appendEvent(trailOf(file), formatEvent(event), maxTrailBytes));
        return (await attempt(() => replaceFile(file, formatOverrides(active), 0o600))) && appended;
      });
    },
    replace(active) {
      if (file === IN_MEMORY) return;
      writing = writing.then(() => attempt(() => replaceFile(file, formatOverrides(active), 0o600)));
    },
    written: () => writing,
  };
}

/** Returns the names of the audit trail's files. They are in the same folder as the file of active overrides. */
export function trailOf(file: string): { readonly current: string; readonly previous: string } {
  const base = file.replace(/\.json$/, '');
  return { current: `${base}-audit.jsonl`, previous: `${base}-audit.1.jsonl` };
}

async function appendEvent(
  { current, previous }: ReturnType<typeof trailOf>,
  line: string,
  maxBytes: number,
): Promise<void> {
  makeFolder(dirname(current));
  const handle = await open(current, 'a+', 0o600);
  let isFull: boolean;
  try {
    const { size } = await handle.stat();
    // A crash may have left an incomplete last line. The next event must start on a new line.
    const { buffer } = size === 0 ? {} : await handle.read(Buffer.alloc(1), 0, 1, size - 1);
    const start = buffer === undefined || buffer.toString() === '\n' ? '' : '\n';
    await handle.appendFile(start + line);
    await handle.sync();
    isFull = size + line.length >= maxBytes;
  } finally {
    await handle.close();
  }
  if (isFull) await rename(current, previous);
}

/** An entry in the audit trail. */
export interface OverrideEvent {
  /** The kind of event: an operator has set, changed or ended the override, or the override has expired. */
  readonly event: 'set' | 'changed' | 'ended' | 'expired';
  /** The time of the event, in epoch milliseconds. */
  readonly at: number;
  /** The override as it was after the event or, if the event ended it, before the event. */
  readonly override: Override;
  /** The operator who ended the override. For other events, the override itself names the operator. */
  readonly endedBy?: Operator;
}

/** Formats the active overrides as indented JSON. */
export function formatOverrides(overrides: readonly Override[]): string {
  return `${JSON.stringify({ version: 1, overrides: overrides.map(overrideJson) }, null, 2)}\n`;
}

/** Formats an entry in the audit trail as one line of JSON. */
export function formatEvent(event: OverrideEvent): string {
  return `${JSON.stringify(eventJson(event))}\n`;
}

/** Converts an entry in the audit trail to JSON. */
export function eventJson({ event, at, override, endedBy }: OverrideEvent) {
  return { at: isoOf(at), event, ...overrideJson(override), endedBy };
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

/** Parses a line in the audit trail. Returns undefined if the line is damaged. */
export function parseEvent(line: string): OverrideEvent | undefined {
  try {
    const { at, event, endedBy, ...override } = parseState(line);
    const known = EVENTS.find((one) => one === event);
    if (known === undefined) return undefined;
    const ended = endedBy === undefined ? {} : { endedBy: operatorOf(objectOf(endedBy, 'endedBy')) };
    return { event: known, at: instantOf(at, 'at'), override: toOverride(override, 'the override'), ...ended };
  } catch {
    return undefined;
  }
}

const EVENTS = ['set', 'changed', 'ended', 'expired'] as const;

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

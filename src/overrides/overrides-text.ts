import { instantOf, objectOf, parseState } from '../files/state-file.ts';
import type { Operator, Override } from './override.ts';
import { MAX_OVERRIDE_HOURS } from './overrides-options.ts';
import { readOverride } from './read-override.ts';

/** An entry of the audit trail. */
export interface OverrideEvent {
  /** The kind of event: an operator has set, changed or ended the override, or it has expired. */
  readonly event: 'set' | 'changed' | 'ended' | 'expired';
  /** Epoch milliseconds. */
  readonly at: number;
  /** The override after the event or, if it has ended, before the event. */
  readonly override: Override;
  /** The operator who ended the override. For other events, the override itself contains the operator. */
  readonly endedBy?: Operator;
}

/** Formats the active overrides as indented JSON. */
export function formatOverrides(overrides: readonly Override[]): string {
  return `${JSON.stringify({ version: 1, overrides: overrides.map(overrideJson) }, null, 2)}\n`;
}

/** Formats an entry of the audit trail as one line of JSON. */
export function formatEvent(event: OverrideEvent): string {
  return `${JSON.stringify(eventJson(event))}\n`;
}

/** Converts an entry of the audit trail to JSON. */
export function eventJson({ event, at, override, endedBy }: OverrideEvent) {
  return { at: isoOf(at), event, ...overrideJson(override), endedBy };
}

/** Converts an override to JSON. Instants are in ISO 8601 format. */
export function overrideJson({ setAt, until, ...override }: Override) {
  return { ...override, setAt: isoOf(setAt), until: isoOf(until) };
}

/** Parses the active overrides. Throws an error that describes the problem if the text is invalid. */
export function parseOverrides(text: string): readonly Override[] {
  const { version, overrides } = parseState(text);
  if (version !== 1) throw new Error('version must be 1');
  if (!Array.isArray(overrides)) throw new Error('overrides must be a list');
  return overrides.map((value: unknown, index) => toOverride(value, `overrides[${index}]`));
}

/** Parses a line of the audit trail. Returns undefined if the line is damaged. */
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
  // The contract may have changed since then, so the operation may be unknown now.
  const operations = new Map([[operation, { isStored: true, transparent: false }]]);
  const read = readOverride(request, { operations, maxHours: MAX_OVERRIDE_HOURS }, since);
  if ('operation' in read) return { ...read, ...operatorOf({ by: read.by, from }), setAt: since };
  throw new Error(read.map(({ field, message }) => `${place}.${field}: ${message}`).join(' '));
}

function operatorOf({ by, from }: Readonly<Record<string, unknown>>): Operator {
  return { by: typeof by === 'string' ? by : undefined, from: typeof from === 'string' ? from : undefined };
}

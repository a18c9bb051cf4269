import { type DistinctFacts, hashOf } from '../shape/distinct-facts.ts';
import type { SampledResponse } from './sampled-response.ts';
import type { SwitchCounts } from '../observations/observations.ts';

/** Compares responses to the same request with and without the switches `wrap` and `v1`. */
interface SwitchComparison {
  /** Adds a response. If the same request is compared several times, each outcome is counted only once. */
  add(counts: Map<string, SwitchCounts>, response: SampledResponse, now: number, isNew: DistinctFacts['isNew']): void;
}

/** The maximum number of requests whose response structures are stored for comparison. */
const MAX_REQUESTS = 500;

/**
 * Creates the comparison. Unless `always` is true, the responses of an operation are compared only after a request
 * for the operation has contained a switch.
 */
export function createSwitchComparison(always: boolean): SwitchComparison {
  const comparedOperations = new Set<string>();
  const shapes = new Map<string, string>();
  const store = (key: string, shape: string) => {
    const [oldest] = shapes.keys();
    if (shapes.size >= MAX_REQUESTS && oldest !== undefined) shapes.delete(oldest);
    shapes.set(key, shape);
  };
  return {
    add: (counts, { operation, status, wrap, v1, request, json }, now, isNew) => {
      const switches = [wrap && 'wrap', v1 && 'v1'].filter((name) => typeof name === 'string');
      if (switches.length > 0) comparedOperations.add(operation);
      if (!always && !comparedOperations.has(operation)) return;
      const [only, second] = switches;
      // If a request contains both switches, it is unknown which one had an effect.
      if (second !== undefined) return;
      const shape = `${status} ${shapeSignature(json)}`;
      const compare = (name: string, same: boolean) => {
        const key = `${name} ${operation}`;
        if (!isNew(`switch ${same}`, { place: hashOf(key), item: hashOf(request) })) return;
        const place = counts.get(key) ?? { same: 0, different: 0, firstSeenAt: now, lastSeenAt: now };
        place[same ? 'same' : 'different'] += 1;
        place.lastSeenAt = now;
        counts.set(key, place);
      };
      if (only === undefined) {
        for (const name of ['wrap', 'v1']) {
          const other = shapes.get(`${name} ${request}`);
          if (other !== undefined) compare(name, other === shape);
          shapes.delete(`${name} ${request}`);
        }
        store(` ${request}`, shape);
        return;
      }
      const plain = shapes.get(` ${request}`);
      if (plain === undefined) store(`${only} ${request}`, shape);
      else compare(only, plain === shape);
    },
  };
}

const MAX_DEPTH = 4;
const MAX_ELEMENTS = 200;

/**
 * Describes the structure of a value by its names and types. The description is used only for comparisons and is never
 * saved.
 */
function shapeSignature(value: unknown, depth = 0): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) {
    const kinds = new Set(value.slice(0, MAX_ELEMENTS).map((element) => shapeSignature(element, depth + 1)));
    return `[${[...kinds].toSorted().join('|')}]`;
  }
  if (typeof value !== 'object') return typeof value;
  if (depth >= MAX_DEPTH) return '{}';
  const fields = Object.entries(value).map(([key, one]) => `${JSON.stringify(key)}:${shapeSignature(one, depth + 1)}`);
  return `{${fields.toSorted().join(',')}}`;
}

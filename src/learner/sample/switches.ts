import { type DistinctFacts, hashOf } from '../shape/distinct-facts.ts';
import type { SampledResponse } from './sample-body.ts';
import type { SwitchCounts } from '../observations/observations.ts';

/** Compares responses to the same request with and without the switches `wrap` and `v1`. */
interface SwitchComparison {
  /** Adds a response. If the same request is compared several times, each outcome is counted only once. */
  add(counts: Map<string, SwitchCounts>, response: SampledResponse, now: number, isNew: DistinctFacts['isNew']): void;
}

const SWITCHES = ['wrap', 'v1'] as const;

/** The maximum number of requests whose response structures are stored for comparison. */
const MAX_REQUESTS = 500;

/**
 * Creates the comparison. Unless `always` is true, an operation's responses are not compared until a request for the
 * operation contains a switch.
 */
export function createSwitchComparison(always: boolean): SwitchComparison {
  const comparedOperations = new Set<string>();
  // The structures of responses, keyed by the switch (if any) and the request.
  const shapes = new Map<string, string>();
  return {
    add: (counts, response, now, isNew) => {
      const { operation, request } = response;
      const [only, second] = SWITCHES.filter((name) => response[name]);
      if (only !== undefined) comparedOperations.add(operation);
      // If a request contains both switches, it is unknown which one had an effect.
      if (second !== undefined || (!always && !comparedOperations.has(operation))) return;
      const shape = `${response.status} ${shapeSignature(response.json)}`;
      const compare = (name: string, other: string) => {
        const key = `${name} ${operation}`;
        const outcome = other === shape ? 'same' : 'different';
        if (!isNew(`switch ${outcome}`, { place: hashOf(key), item: hashOf(request) })) return;
        const place = counts.get(key) ?? { same: 0, different: 0, firstSeenAt: now, lastSeenAt: now };
        place[outcome] += 1;
        place.lastSeenAt = now;
        counts.set(key, place);
      };
      const plain = shapes.get(` ${request}`);
      if (only !== undefined && plain !== undefined) return compare(only, plain);
      for (const name of only === undefined ? SWITCHES : []) {
        const other = shapes.get(`${name} ${request}`);
        if (other !== undefined) compare(name, other);
        shapes.delete(`${name} ${request}`);
      }
      const [oldest] = shapes.keys();
      if (shapes.size >= MAX_REQUESTS && oldest !== undefined) shapes.delete(oldest);
      shapes.set(`${only ?? ''} ${request}`, shape);
    },
  };
}

const MAX_DEPTH = 4;
const MAX_ELEMENTS = 200;

/** Describes the structure of a value by its names and types. Used only for comparisons and never saved. */
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

import { durationClass, type FieldPresence } from '../../../engine/model/release-statistics.ts';
import type { Trace } from '../../../engine/model/trace.ts';
import type { StatisticsDelta } from '../ledger-batch.ts';

/** Counts what the responses of each operation have in common, so that releases can be compared. */
interface ReleaseCounts {
  /** Counts the status and the duration of an upstream response. Ignores requests that the upstream did not receive. */
  count(trace: Trace): void;
  /** Counts the fields of a sampled response. */
  countFields(operation: string, presence: FieldPresence): void;
  /** Returns and removes what has been counted. */
  take(): StatisticsDelta[];
}

/** The maximum number of places and fields per operation. Further ones are not counted. */
const MAX_PLACES = 256;

/** Creates empty counts. */
export function createReleaseCounts(): ReleaseCounts {
  let counts = new Map<string, Map<string, number>>();
  /** The places and fields of each operation that have been counted since the process started. */
  const places = new Map<string, Set<string>>();
  const countsOf = (operation: string): Map<string, number> => {
    let own = counts.get(operation);
    if (own === undefined) counts.set(operation, (own = new Map<string, number>()));
    return own;
  };
  return {
    count({ operation, upstream, comparison }) {
      const status = upstream?.status;
      if (comparison === true || operation === undefined || upstream === undefined || status === undefined) return;
      const own = countsOf(operation);
      increment(own, statusName(status, upstream.shape));
      if (status >= 200 && status < 300) increment(own, durationName(upstream.seconds));
    },
    countFields(operation, { objects, fields }) {
      const own = countsOf(operation);
      let known = places.get(operation);
      if (known === undefined) places.set(operation, (known = new Set()));
      const countAll = (kind: string, found: ReadonlySet<string>) => {
        for (const place of found) {
          const name = `${kind} ${place}`;
          if (!known.has(name) && known.size >= MAX_PLACES) continue;
          known.add(name);
          increment(own, name);
        }
      };
      countAll('object', objects);
      countAll('field', fields);
    },
    take() {
      const taken = [...counts].map(([operation, own]) => ({ operation, counts: Object.fromEntries(own) }));
      counts = new Map();
      return taken;
    },
  };
}

function increment(counts: Map<string, number>, name: string): void {
  counts.set(name, (counts.get(name) ?? 0) + 1);
}

// The names are created once, because every request needs two of them.
const statusNames = new Map<number, Map<string, string>>();

/** Returns the name of the count for a status. The form of the body is part of the name only for an error. */
function statusName(status: number, shape: string): string {
  let names = statusNames.get(status);
  if (names === undefined) statusNames.set(status, (names = new Map<string, string>()));
  let name = names.get(shape);
  if (name === undefined) names.set(shape, (name = status < 400 ? `status ${status}` : `status ${status} ${shape}`));
  return name;
}

const durationNames: string[] = [];

function durationName(seconds: number): string {
  const index = durationClass(seconds);
  return (durationNames[index] ??= `ms ${index}`);
}

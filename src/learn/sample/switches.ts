import type { ObservedAnswer } from './sampled-response.ts';
import type { SwitchCounts } from '../observations/observations.ts';
import { shapeSignature } from '../shape/settle-shape.ts';

/** Compares answers to the same question with and without `wrap` and `v1`. */
export interface SwitchWatch {
  observe(counts: Map<string, SwitchCounts>, answer: ObservedAnswer, now: number): void;
}

/** Questions whose shapes are remembered for a comparison. */
const MAX_QUESTIONS = 500;

/** A watch; unless it is to look `always`, it looks at an operation's answers once one of them came with a switch. */
export function createSwitchWatch(always: boolean): SwitchWatch {
  const watched = new Set<string>();
  const shapes = new Map<string, string>();
  const keep = (key: string, shape: string) => {
    const [oldest] = shapes.keys();
    if (shapes.size >= MAX_QUESTIONS && oldest !== undefined) shapes.delete(oldest);
    shapes.set(key, shape);
  };
  return {
    observe: (counts, { operation, status, wrap, v1, question, json }, now) => {
      const switches = [wrap && 'wrap', v1 && 'v1'].filter((name) => typeof name === 'string');
      if (switches.length > 0) watched.add(operation);
      if (!always && !watched.has(operation)) return;
      const shape = `${status} ${shapeSignature(json)}`;
      const [only, second] = switches;
      // Both at once tell nothing about either.
      if (second !== undefined) return;
      if (only === undefined) {
        for (const name of ['wrap', 'v1']) {
          const other = shapes.get(`${name} ${question}`);
          if (other !== undefined) compare(counts, `${name} ${operation}`, other === shape, now);
          shapes.delete(`${name} ${question}`);
        }
        keep(` ${question}`, shape);
        return;
      }
      const plain = shapes.get(` ${question}`);
      if (plain === undefined) keep(`${only} ${question}`, shape);
      else compare(counts, `${only} ${operation}`, plain === shape, now);
    },
  };
}

function compare(counts: Map<string, SwitchCounts>, key: string, same: boolean, now: number): void {
  const place = counts.get(key) ?? { same: 0, different: 0, firstSeenAt: now, lastSeenAt: now };
  place[same ? 'same' : 'different'] += 1;
  place.lastSeenAt = now;
  counts.set(key, place);
}

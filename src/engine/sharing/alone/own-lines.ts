import type { SharedLines } from '../sharing.ts';

/** Creates a list of the latest `shown` lines of this process. Lines of the same time stay in the order of `add`. */
export function createOwnLines(shown: number): SharedLines {
  let lines: readonly (readonly [line: string, at: number])[] = [];
  return {
    add(line, at) {
      const all = new Map(lines).set(line, at);
      lines = [...all].toSorted(([, one], [, other]) => one - other).slice(-shown);
    },
    read: () => Promise.resolve(lines.map(([line]) => line)),
  };
}

import { WrittenNumber } from './exact-values.ts';
import type { ComparedObjects } from './compare-values.ts';
import type { Marks } from './marks.ts';

/**
 * Describes a value without revealing it. Only what cannot identify anybody is shown: `null`, truth values, words that
 * the contract lists, and numbers that are neither ids nor personal.
 */
export function describeValue(value: unknown, marks: Marks): string {
  if (value === undefined) return 'absent';
  if (value === null) return 'null';
  if (typeof value === 'boolean') return marks.isPersonal ? 'a truth value' : String(value);
  if (typeof value === 'number' || value instanceof WrittenNumber) {
    const text = value instanceof WrittenNumber ? value.source : String(value);
    return marks.isPersonal || marks.identity !== undefined || text.length > 6 ? 'a number' : text;
  }
  if (typeof value === 'string')
    return marks.words.has(value) && !marks.isPersonal ? `"${value}"` : `text of ${value.length} characters`;
  if (Array.isArray(value)) return `a list of ${value.length}`;
  return `an object with ${Object.keys(value).length} members`;
}

/** The maximum number of members that are described beside a difference. */
const MAX_BESIDE = 8;

/**
 * Describes the members of the two objects in which a difference was found, so that somebody can see both responses side
 * by side. Members that differ in their descriptions come first.
 */
export function describeMembers({ place, a, b }: ComparedObjects): readonly DescribedMember[] {
  const names = [...new Set([...Object.keys(a), ...Object.keys(b)])].slice(0, MAX_NAMES);
  const described = names.map((name): DescribedMember => {
    const { at, marks } = place.member(name);
    // Beyond a limit, names are not told apart.
    const shown = at.slice(at.lastIndexOf('/') + 1);
    return [shown, describeValue(a[name], marks), describeValue(b[name], marks)];
  });
  const isSame = ([, old, next]: DescribedMember) => Number(old === next);
  return described.toSorted((one, other) => isSame(one) - isSame(other)).slice(0, MAX_BESIDE);
}

/** The name of a member, and descriptions of both of its values. */
export type DescribedMember = readonly [name: string, old: string, next: string];

const MAX_NAMES = 100;

/** Describes where two texts begin to differ, or returns undefined if they are not both texts. */
export function firstDifference(a: unknown, b: unknown): string | undefined {
  if (typeof a !== 'string' || typeof b !== 'string') return undefined;
  let at = 0;
  while (at < a.length && a[at] === b[at]) at += 1;
  return `they differ from character ${at + 1}`;
}

import leven from 'leven';

/** The maximum length of names to compare. Longer names are unlikely to be typos and would be slow to compare. */
const MAX_LENGTH = 100;

/**
 * Returns the known name that was probably meant, or undefined if there is none. A name qualifies if it differs from
 * the given string only in case or by a few edits, or if it begins with the string and the string has at least three
 * letters. More edits are allowed if the first letters match.
 */
export function closestName(written: string, known: Iterable<string>): string | undefined {
  if (written.length > MAX_LENGTH) return undefined;
  const wanted = written.toLowerCase();
  let best: string | undefined;
  let nearest = Number.POSITIVE_INFINITY;
  for (const name of known) {
    const folded = name.toLowerCase();
    const distance = distanceOf(wanted, folded);
    if (distance < nearest && distance <= allowance(wanted, folded)) [best, nearest] = [name, distance];
  }
  return best;
}

/** Returns the end of a message, such as `; did you mean page?`, or an empty string if no known name is similar. */
export function didYouMean(written: string, known: Iterable<string>): string {
  const near = closestName(written, known);
  return near === undefined ? '' : `; did you mean ${near}?`;
}

function distanceOf(wanted: string, folded: string): number {
  if (wanted === folded) return 0;
  if (isSwapped(wanted, folded)) return 1;
  return wanted.length > 2 && folded.startsWith(wanted) ? 1 : leven(wanted, folded);
}

/** Returns whether two names differ only in the order of two adjacent letters, which is a frequent typo. */
function isSwapped(wanted: string, folded: string): boolean {
  if (wanted.length !== folded.length) return false;
  const at = Array.prototype.findIndex.call(wanted, (letter, index) => letter !== folded[index]);
  return (
    wanted[at] === folded[at + 1] && wanted[at + 1] === folded[at] && wanted.slice(at + 2) === folded.slice(at + 2)
  );
}

function allowance(wanted: string, folded: string): number {
  const length = Math.min(wanted.length, folded.length);
  return wanted[0] === folded[0] ? Math.min(3, Math.floor(length / 2)) : Math.floor(length / 3);
}

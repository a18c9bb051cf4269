import { closestMatch } from 'leven';

/** The name that somebody may have meant, or undefined when none is near. */
export function closestName(given: string, names: readonly string[]): string | undefined {
  // A different case is the likeliest slip of all, and may be far away by distance.
  const folded = names.find((name) => name.toLowerCase() === given.toLowerCase());
  return folded ?? closestMatch(given, names, { maxDistance: Math.max(2, Math.floor(given.length / 3)) });
}

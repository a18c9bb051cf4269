import leven from 'leven';

/** The known name that somebody may have meant, or undefined when none is near. */
export function suggestName(written: string, known: Iterable<string>): string | undefined {
  if (written.length > 64) return undefined;
  const lower = written.toLowerCase();
  let best: string | undefined;
  let bestDistance = Number.POSITIVE_INFINITY;
  for (const name of known) {
    const distance = name.toLowerCase().startsWith(lower) && lower.length > 2 ? 1 : leven(lower, name.toLowerCase());
    if (distance < bestDistance) [best, bestDistance] = [name, distance];
  }
  return bestDistance <= Math.min(3, Math.floor(lower.length / 2)) ? best : undefined;
}

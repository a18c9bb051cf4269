import leven from 'leven';

/** The candidate that was most likely meant, or undefined when none is near. */
export function suggest(word: string, candidates: Iterable<string>): string | undefined {
  const wanted = word.toLowerCase();
  let best: string | undefined;
  let nearest = Math.max(2, Math.floor(word.length / 3)) + 1;
  for (const candidate of candidates) {
    const distance = leven(wanted, candidate.toLowerCase(), { maxDistance: nearest });
    if (distance < nearest && distance < candidate.length) {
      nearest = distance;
      best = candidate;
    }
  }
  return best;
}

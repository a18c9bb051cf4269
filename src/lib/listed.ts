const MAX_LISTED = 5;

/** Joins names into one string. Long lists are shortened, because a few examples are enough. */
export function listed(names: readonly string[]): readonly string[] {
  if (names.length === 0) return [];
  const more = names.length - MAX_LISTED;
  return [`${names.slice(0, MAX_LISTED).join(', ')}${more > 0 ? ` and ${more} more` : ''}`];
}

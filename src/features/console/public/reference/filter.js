/**
 * Returns true if an operation matches the search text. Each word in the text must occur in the operation's id, path,
 * summary or parameters.
 */
export function matches(operation, text) {
  const { id, method, path, summary, group, requires, parameters } = operation;
  const searched = [id, method, path, summary, group, requires, ...parameters.map(({ name }) => name)]
    .join(' ')
    .toLowerCase();
  return text
    .toLowerCase()
    .split(/\s+/)
    .every((word) => searched.includes(word));
}

/**
 * Whether an operation is meant by the words of a search: each has to occur in its id, address, summary or parameters.
 */
export function matches(operation, text) {
  const { id, method, path, summary, group, requires, parameters } = operation;
  const hay = [id, method, path, summary, group, requires, ...parameters.map(({ name }) => name)]
    .join(' ')
    .toLowerCase();
  return text
    .toLowerCase()
    .split(/\s+/)
    .every((word) => hay.includes(word));
}

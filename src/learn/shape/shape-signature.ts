const DEPTH = 4;
const ELEMENTS = 200;

/** The shape of a value as one text: names and types, elements of an array together; for comparing two answers, never kept. */
export function shapeSignature(value: unknown, depth = 0): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) {
    const kinds = new Set(value.slice(0, ELEMENTS).map((element) => shapeSignature(element, depth + 1)));
    return `[${[...kinds].toSorted().join('|')}]`;
  }
  if (typeof value !== 'object') return typeof value;
  if (depth >= DEPTH) return '{}';
  const members = Object.entries(value).map(
    ([name, member]) => `${JSON.stringify(name)}:${shapeSignature(member, depth + 1)}`,
  );
  return `{${members.toSorted().join(',')}}`;
}

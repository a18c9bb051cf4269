/** A JSON pointer with every index replaced by `*`, so that the same place in all items of a list reads the same. */
export function anyIndex(pointer: string): string {
  return pointer.replaceAll(/\/\d+(?=\/|$)/g, '/*');
}

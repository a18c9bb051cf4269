/** A JSON pointer with every array index replaced by `*`, so that the same fault in another item counts as the same. */
export function fingerprintPointer(pointer: string): string {
  return pointer.replaceAll(/\/\d+(?=\/|$)/g, '/*');
}

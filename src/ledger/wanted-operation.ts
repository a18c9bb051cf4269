/** What queries call everything outside the contract. */
const UNDOCUMENTED_OPERATION = 'undocumented';

/** The operation that a query names, as entries have it. */
export function operationOf(wanted: string): string | undefined {
  return wanted === UNDOCUMENTED_OPERATION ? undefined : wanted;
}

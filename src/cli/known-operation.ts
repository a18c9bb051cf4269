import { closestName } from '../lib/closest-name.ts';
import { UsageError } from './command.ts';

/** Throws UsageError where a flag names an operation that there is not; an absent flag names none. */
export function knownOperation(id: string | undefined, known: readonly string[], flag: string): void {
  if (id === undefined || known.includes(id)) return;
  const near = closestName(id, known);
  throw new UsageError(
    `${flag} ${id}: there is no such operation${near === undefined ? '' : `; did you mean ${near}?`}`,
  );
}

import type { Exchange } from './exchange.ts';
import type { PlannedOperation } from './stage.ts';

/**
 * Returns an identifier of whose credential a page is fetched with: the audience of the individual caller, or an empty
 * string for the service account. Callers who share a stored page may still send different credentials, and the upstream
 * may accept one of them and refuse the other.
 */
export function fetchedAs(
  { serviceCredential }: Pick<PlannedOperation, 'serviceCredential'>,
  { principal, delegated }: Pick<Exchange, 'principal' | 'delegated'>,
): string {
  return serviceCredential && !delegated ? '' : principal.audience;
}

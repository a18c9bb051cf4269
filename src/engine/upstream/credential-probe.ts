import type { ExchangedResponse, Upstream } from './create-upstream.ts';
import type { Sessions } from './sessions.ts';

/**
 * Creates the function that sends a credential, the value of an `Authorization` header, to the upstream and returns the
 * upstream's response. `exchange` uses the upstream that is current at the time of the call.
 */
export function createCredentialProbe(
  exchange: Upstream['exchange'],
  sessions: Sessions,
  { path: target, validStatuses }: { readonly path: string; readonly validStatuses: readonly number[] },
): (authorization: string, signal: AbortSignal) => Promise<ExchangedResponse> {
  return async (authorization, signal) => {
    const headers = [
      ['Accept', 'application/json'],
      ['Content-Type', 'application/json'],
      ['Authorization', authorization],
    ] as const;
    const session = sessions.ofProbe(authorization);
    const response = await exchange({ method: 'GET', target, headers, session, signal, mode: 'buffered' });
    if (response.status < 500 && !validStatuses.includes(response.status)) sessions.drop(authorization);
    return response;
  };
}

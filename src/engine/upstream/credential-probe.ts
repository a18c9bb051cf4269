import type { ExchangedResponse, Upstream } from './create-upstream.ts';
import type { Sessions } from './sessions.ts';

/** Sends a credential, the value of an `Authorization` header, to the upstream. Returns the upstream's response. */
export type CredentialProbe = (authorization: string, signal: AbortSignal) => Promise<ExchangedResponse>;

/** Creates the function that sends credentials to the upstream. */
export function createCredentialProbe(
  exchange: Upstream['exchange'],
  sessions: Sessions,
  { path: target, validStatuses }: { readonly path: string; readonly validStatuses: readonly number[] },
): CredentialProbe {
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

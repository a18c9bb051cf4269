import type { Operation } from '../../engine/model/operation.ts';
import type { Exchange } from '../../engine/pipeline/exchange.ts';
import type { MirrorOptions } from './options.ts';

/** What decides about the credential for the second server. */
export interface CredentialParts {
  readonly options: Pick<MirrorOptions, 'credentials' | 'impersonal'>;
  /** The `Authorization` header of the second server's service account. */
  readonly service: string | undefined;
  /** The `Authorization` headers of the accounts that stand for callers, by the callers' names. */
  readonly accounts?: ReadonlyMap<string, string> | undefined;
  /** True if requests are forwarded as received, as in `observe` mode. */
  readonly transparent: boolean;
  /** True if the legacy server gets a service account's credential for operations that do not depend on the caller. */
  readonly hasServiceAccount: boolean;
  readonly sessionCookies: ReadonlySet<string>;
}

/**
 * Creates a function that returns the `Authorization` header for the second server, as `authorization`. It returns
 * undefined if the second server would respond to somebody else than the legacy server did, so that a comparison would
 * show nothing, or if the credential must not be sent to another host.
 */
export function createCredentialFor(parts: CredentialParts) {
  const { options, service, accounts, transparent, hasServiceAccount, sessionCookies } = parts;
  const impersonal = new Set(options.impersonal);
  const hasSession = (cookie: string | undefined) =>
    cookie?.split(';').some((pair) => sessionCookies.has((pair.split('=', 1)[0] ?? '').trim())) === true;
  return (
    { arrival, principal, delegated }: Pick<Exchange, 'arrival' | 'principal' | 'delegated'>,
    { id, identityIndependent }: Pick<Operation, 'id' | 'identityIndependent'>,
  ): { readonly authorization: string | undefined } | undefined => {
    const isService = !transparent && hasServiceAccount && identityIndependent && !delegated;
    const sent = transparent ? arrival.authorization : principal.authorization;
    const isAnonymous =
      !isService &&
      sent === undefined &&
      principal.access === undefined &&
      !(transparent && (hasSession(arrival.headers.cookie) || arrival.otherCredential !== undefined));
    // The responses are the same for everybody, so an account of the second server's own will do.
    if (impersonal.has(id)) return { authorization: options.credentials === 'service' ? service : undefined };
    if (options.credentials === 'service') return isService ? { authorization: service } : undefined;
    if (isAnonymous) return { authorization: undefined };
    if (options.credentials === 'none' || isService) return undefined;
    // What stands for a token is meant for the legacy server only, and a session cannot be taken along.
    if (sent === undefined || principal.access !== undefined) return undefined;
    if (transparent && hasSession(arrival.headers.cookie)) return undefined;
    if (options.credentials === 'forward') return { authorization: sent };
    // An account is a right, so only the very name has it. Whether the credential belongs to the name is checked later.
    const mapped = accounts?.get(principal.name ?? '');
    return mapped === undefined ? undefined : { authorization: mapped };
  };
}

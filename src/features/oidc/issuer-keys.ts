import { createLocalJWKSet, type JSONWebKeySet } from 'jose';
import type { Logger } from 'pino';
import type { Clock } from '../../lib/clock.ts';
import { membersOf } from '../../lib/plain-object.ts';
import type { OidcOptions } from './options.ts';
import { isTrustworthy } from './trustworthy.ts';

/** Finds the key of a token's signature among those that the issuer publishes. */
export type FindKey = ReturnType<typeof createLocalJWKSet>;

/** The keys of an issuer. They are fetched when a token needs them. */
export interface IssuerKeys {
  /**
   * Returns the keys, or undefined if the issuer did not provide any. With `missing`, a key was not among those returned
   * before, so they are fetched again, if that has not just been done.
   */
  current(missing: boolean): Promise<FindKey | undefined>;
  /** Ends requests that are under way. */
  close(): void;
}

type Parts = Pick<OidcOptions, 'keysSeconds' | 'refetchSeconds' | 'timeoutMs'> & {
  readonly issuer: string;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Called after each fetch. */
  readonly onFetched: (outcome: 'fetched' | 'failed') => void;
};

/** The maximum size of what an issuer sends. */
const MAX_BYTES = 262_144;

/**
 * Creates the keys of an issuer, which names their address in its configuration (OpenID Connect Discovery 1.0 §4). However
 * many tokens arrive, and whether or not the issuer responds, it is asked at most once in `refetchSeconds`.
 */
export function createIssuerKeys({ issuer, clock, logger, onFetched, ...limits }: Parts): IssuerKeys {
  const closed = new AbortController();
  let keys: FindKey | undefined;
  let fetchedAt = -Infinity;
  let triedAt = -Infinity;
  let isFailing = false;
  let fetching: Promise<void> | undefined;

  async function read(url: string): Promise<unknown> {
    const response = await fetch(url, {
      headers: { Accept: 'application/json' },
      // The address is part of the trust in the issuer, so it must not send the gateway elsewhere.
      redirect: 'error',
      signal: AbortSignal.any([closed.signal, AbortSignal.timeout(limits.timeoutMs)]),
    });
    if (response.status !== 200) {
      await response.body?.cancel();
      throw new Error(`${url} returned status ${response.status}`);
    }
    const parts: Uint8Array[] = [];
    let size = 0;
    for await (const part of response.body ?? []) {
      size += part.length;
      if (size > MAX_BYTES) throw new Error(`${url} returned more than ${MAX_BYTES} bytes`);
      parts.push(part);
    }
    return JSON.parse(Buffer.concat(parts).toString('utf8'));
  }

  async function fetchKeys(): Promise<void> {
    triedAt = clock();
    try {
      const { issuer: named, jwks_uri: address } = membersOf(await read(configurationOf(issuer)));
      if (named !== issuer) throw new Error('the configuration is that of another issuer');
      if (typeof address !== 'string' || !isTrustworthy(address))
        throw new Error('the address of the keys is not https');
      // jose checks the form of the set, and of a key when it is used.
      keys = createLocalJWKSet((await read(address)) as JSONWebKeySet);
      fetchedAt = clock();
      onFetched('fetched');
      if (isFailing) logger.info({ oidc: { issuer } }, 'the keys of the issuer could be fetched again');
      isFailing = false;
    } catch (error) {
      if (!closed.signal.aborted) onFetched('failed');
      if (!isFailing && !closed.signal.aborted)
        logger.warn({ oidc: { issuer }, err: error }, 'the keys of the issuer cannot be fetched');
      isFailing = true;
    }
  }

  return {
    async current(missing) {
      const now = clock();
      const isDue = keys === undefined || missing || now - fetchedAt >= limits.keysSeconds * 1000;
      if (fetching === undefined && isDue && now - triedAt >= limits.refetchSeconds * 1000)
        fetching = fetchKeys().finally(() => (fetching = undefined));
      // Keys that are too old are not used, because the issuer may have withdrawn them. A short outage does no harm, and
      // nobody waits for an issuer that hangs while the keys are good enough.
      const areUsable = () => clock() - fetchedAt < limits.keysSeconds * 2000;
      if (keys === undefined || missing || !areUsable()) await fetching;
      return areUsable() ? keys : undefined;
    },
    close: () => closed.abort(),
  };
}

/** Returns the address of an issuer's configuration. */
const configurationOf = (issuer: string) => `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`;

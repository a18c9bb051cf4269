import type { EventWindow, SlidingWindows, Soon } from '../sharing/sharing.ts';
import type { IdentityOptions } from './identity-options.ts';

/** Limits failed logins per pair of network and name, and per name across all networks. */
export interface LoginLimits {
  /**
   * Counts an attempt as failed before it is made, so that parallel attempts cannot exceed the limits, on however many
   * gateways. Never rejects. `name` is undefined if it is not known before the credential is verified. `claim` is what
   * such a credential claims to be; nobody can guess it, so it is not limited across networks.
   */
  begin(network: string, name: string | undefined, claim?: string): Soon<LoginAttempt>;
}

/** An attempt that was either counted or refused. */
export interface LoginAttempt {
  /** Set if the attempt was refused. A refused attempt is not counted. */
  readonly limited: { readonly retryAfterSeconds: number } | undefined;
  /** Removes an attempt that turned out not to be a failure. */
  withdraw(): void;
  /** Records a successful login. For `trustSeconds`, the limit per name does not apply to this name and network. */
  loggedIn(): void;
}

/**
 * The number of shares into which the table of pairs is divided. One network can fill at most one share, so a client that
 * invents names cannot displace other networks.
 */
const SHARES = 32;
/** The minimum number of names that each network can try, even if the table is small. */
const MIN_NAMES = 16;

/** Returns the number of names that a network can try within the window. */
const namesPerNetwork = (maxPairs: number) => Math.min(maxPairs, Math.max(MIN_NAMES, Math.floor(maxPairs / SHARES)));

/**
 * Creates the limits for failed logins. The limit per name stops attacks on one name from many networks, each of which
 * stays below the limit for its own pair. Because anyone could use this limit to lock out the rightful user, it does not
 * apply to networks from which a login with the name recently succeeded. Nonexistent names are treated in the same way,
 * so the limits do not reveal which names exist.
 */
export function createLoginLimits(windows: SlidingWindows, options: IdentityOptions['failures']): LoginLimits {
  const { limit, limitPerName, windowSeconds, trustSeconds, maxPairs } = options;
  const windowsOf = (network: string, name: string | undefined, claim = ''): readonly EventWindow[] => [
    // Without a name, no attempt counts for other networks, and without a claim, all attempts of a network count together.
    ...(name === undefined
      ? []
      : [{ name: 'name', texts: [name], limit: limitPerName, unlessTrusted: 'pair' } satisfies EventWindow]),
    { name: 'pair', texts: [network, name ?? claim], limit },
    { name: 'network', texts: [network], limit: namesPerNetwork(maxPairs), counts: 'pair' },
  ];
  const attemptOf = ({ waitMs, withdraw, trust }: Awaited<ReturnType<SlidingWindows['add']>>): LoginAttempt => ({
    limited: waitMs > 0 ? { retryAfterSeconds: Math.ceil(waitMs / 1000) } : undefined,
    withdraw,
    loggedIn: () => trust('pair', trustSeconds * 1000),
  });
  return {
    begin(network, name, claim) {
      const event = windows.add(windowsOf(network, name, claim), windowSeconds * 1000);
      return event instanceof Promise ? event.then(attemptOf) : attemptOf(event);
    },
  };
}

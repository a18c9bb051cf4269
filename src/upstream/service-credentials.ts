import { readSecretFile } from '../files/secret-file.ts';
import { toAuthorization } from '../lib/basic-credentials.ts';
import type { UpstreamCredentials } from './upstream-options.ts';

/**
 * Returns the `Authorization` value of the service account, or a configuration error. Returns undefined if the callers'
 * own credentials are forwarded.
 */
export function serviceAuthorization(
  credentials: UpstreamCredentials,
  environment: Readonly<Record<string, string | undefined>>,
): { readonly authorization: string | undefined } | { readonly fault: string } {
  if (credentials.kind === 'forward') return { authorization: undefined };
  const password = servicePassword(credentials, environment);
  if ('fault' in password) return password;
  return { authorization: toAuthorization(credentials.username, password.text) };
}

/** Returns the password of the service account, or a configuration error. */
export function servicePassword(
  credentials: Extract<UpstreamCredentials, { kind: 'service' }>,
  environment: Readonly<Record<string, string | undefined>>,
): { readonly text: string } | { readonly fault: string } {
  if (credentials.password !== undefined) return { text: credentials.password };
  if (credentials.passwordEnv !== undefined) {
    const text = environment[credentials.passwordEnv];
    return text ? { text } : { fault: `the variable ${credentials.passwordEnv} is not set` };
  }
  if (credentials.passwordFile === undefined) return { fault: 'the service account has no password' };
  return readSecretFile(credentials.passwordFile);
}

import { readFileSync } from 'node:fs';
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
  const password = passwordOf(credentials, environment);
  if ('fault' in password) return password;
  const bytes = Buffer.from(`${credentials.username}:${password.text}`);
  return { authorization: `Basic ${bytes.toString('base64')}` };
}

function passwordOf(
  credentials: Extract<UpstreamCredentials, { kind: 'service' }>,
  environment: Readonly<Record<string, string | undefined>>,
): { readonly text: string } | { readonly fault: string } {
  if (credentials.password !== undefined) return { text: credentials.password };
  if (credentials.passwordEnv !== undefined) {
    const text = environment[credentials.passwordEnv];
    return text ? { text } : { fault: `the variable ${credentials.passwordEnv} is not set` };
  }
  if (credentials.passwordFile === undefined) return { fault: 'the service account has no password' };
  try {
    const text = readFileSync(credentials.passwordFile, 'utf8').split(/\r?\n/, 1)[0];
    return text ? { text } : { fault: `the file ${credentials.passwordFile} is empty` };
  } catch {
    return { fault: `the file ${credentials.passwordFile} cannot be read` };
  }
}

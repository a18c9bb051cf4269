import type { Settings } from '../../engine/config/settings.ts';
import { hostInUrl, reachableHost } from '../../lib/network-address.ts';
import { type CommandLine, type Flag, UsageError } from '../../lib/command.ts';
import { CONFIG_FLAGS } from './config-flags.ts';

/** The flags for commands that send requests to a running gateway's admin side. */
export const ADMIN_FLAGS: readonly Flag[] = [
  ...CONFIG_FLAGS.filter(({ name }) => name === 'config'),
  {
    name: 'admin',
    value: 'URL',
    help: 'Address of the admin side; by default listen.adminHost and listen.adminPort (ADMIN_HOST, ADMIN_PORT).',
  },
];

/** The help text shared by commands that send requests to the admin side. */
export const ADMIN_NOTES: readonly string[] = [
  'The command sends a request to the admin side of the running gateway. It reads the address and the token from the',
  'configuration or the environment (PORTICO_ADMIN_TOKEN), so run it with the gateway’s configuration and environment.',
];

/**
 * Returns the admin side's address from the command line or the configuration. Throws a UsageError if `--admin` is not
 * a URL, or if the configured port is not known in advance.
 */
export function adminAddress(line: CommandLine, { listen }: Settings): URL {
  const given = line.last('admin');
  if (given === undefined && listen.adminPort === 0)
    throw new UsageError(
      'the configured admin port is 0, which selects any free port: specify the address with --admin URL',
    );
  if (given === undefined) return new URL(`http://${hostInUrl(reachableHost(listen.adminHost))}:${listen.adminPort}`);
  const url = URL.canParse(given) ? new URL(given) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol))
    throw new UsageError(`--admin ${given}: must be an http or https URL`);
  return url;
}

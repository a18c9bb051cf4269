import type { AdminClient } from '../../engine/feature-command.ts';
import { membersOf } from '../../lib/plain-object.ts';
import { failureHint } from '../../engine/model/failure-hints.ts';
import { toTransportFailure } from '../../engine/upstream/failures/transport-failure.ts';
import { StartFault } from '../../engine/model/fault.ts';
import { CommandFailure, type CommandLine } from '../../lib/command.ts';
import type { ProgramIo } from '../program.ts';
import { adminAddress } from '../flags/admin-flags.ts';
import { readSettingsFrom } from '../flags/config-flags.ts';

// The request timeout, in milliseconds. A reload can take a second, and may first have to wait for another reload.
const TIMEOUT_MS = 30_000;

/**
 * Returns a client for a gateway's admin side. The gateway is determined from the command line, the environment and the
 * configuration. Configuration errors are ignored, because the gateway reports them itself, unless it cannot be reached.
 */
export function adminClient(line: CommandLine, io: Pick<ProgramIo, 'env' | 'cwd' | 'product'>): AdminClient {
  const { settings, faults, isPartial } = readSettingsFrom(line, io);
  const url = adminAddress(line, settings);
  const hintFor = ({ status }: Response) =>
    status === 401 && settings.adminToken === undefined ? ' Set PORTICO_ADMIN_TOKEN as for the gateway.' : '';
  return {
    url: url.origin,
    async send(method, path, body) {
      const content = body === undefined ? {} : { body: JSON.stringify(body) };
      const response = await fetch(new URL(path, url), {
        ...content,
        method,
        headers: {
          Accept: 'application/json',
          ...(settings.adminToken !== undefined && { Authorization: `Bearer ${settings.adminToken}` }),
          ...(body !== undefined && { 'Content-Type': 'application/json' }),
        },
        redirect: 'manual',
        signal: AbortSignal.timeout(TIMEOUT_MS),
      }).catch((error: unknown) => {
        // Without the configuration, the address may be wrong.
        if (isPartial === true && line.last('admin') === undefined) throw new StartFault(faults);
        throw new CommandFailure(`no gateway responds at ${url.origin}: ${reasonOf(error)}`);
      });
      const json: unknown = await response.json().catch(() => undefined);
      if (json === undefined || (response.status >= 300 && response.status < 400))
        throw new CommandFailure(
          `${url.origin} is not the admin side of a gateway; name its address with --admin, or with listen.adminHost and listen.adminPort`,
        );
      if (response.status === 401 || response.status === 403 || response.status === 429)
        throw new CommandFailure(
          `${url.origin}: ${messageOf(json) ?? `status ${response.status}`}${hintFor(response)}`,
        );
      return { status: response.status, body: json };
    },
  };
}

/** Returns the message in an error response from the admin side, or undefined if there is none. */
export function messageOf(body: unknown): string | undefined {
  const { error } = membersOf(body);
  return typeof error === 'string' ? error : undefined;
}

/** Describes why there was no response. */
function reasonOf(error: unknown): string {
  if (error instanceof Error && error.name === 'TimeoutError') return 'it did not respond in time';
  const cause = error instanceof Error ? error.cause : undefined;
  const { facts } = toTransportFailure(cause, 'connecting');
  // The only failures without a code are those of ports that belong to other protocols, such as 25 for mail.
  return facts?.code === undefined ? 'requests to this port are not allowed; choose another one' : failureHint(facts);
}

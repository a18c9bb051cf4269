import { membersOf } from '../../lib/plain-object.ts';
import { CommandFailure, type CommandIo, type CommandLine } from '../command.ts';
import { adminAddress } from '../flags/admin-flags.ts';
import { readSettingsFrom } from '../flags/config-flags.ts';

/** A client for a running gateway's admin side. */
interface AdminClient {
  /** The address as shown in messages. */
  readonly url: string;
  /**
   * Sends a request and returns the response's status and JSON body. Throws a CommandFailure if no server listens at
   * the address, if the token is refused, or if the response does not come from a gateway.
   */
  send(method: 'GET' | 'POST', path: string, body?: unknown): Promise<AdminResponse>;
}

interface AdminResponse {
  readonly status: number;
  readonly body: unknown;
}

// The request timeout, in milliseconds. A reload can take a second, and may first have to wait for another reload.
const TIMEOUT_MS = 30_000;

/**
 * Returns a client for a gateway's admin side. The gateway is determined from the command line, the environment and the
 * configuration. Configuration errors are ignored, because the gateway reports them itself.
 */
export function adminClient(line: CommandLine, io: Pick<CommandIo, 'env' | 'cwd'>): AdminClient {
  const { settings } = readSettingsFrom(line, io);
  const url = adminAddress(line, settings);
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
        redirect: 'error',
        signal: AbortSignal.timeout(TIMEOUT_MS),
      }).catch((error: unknown) => {
        throw new CommandFailure(`no gateway responds at ${url.origin} (${reasonOf(error)})`);
      });
      const json: unknown = await response.json().catch(() => undefined);
      if (json === undefined) throw new CommandFailure(`${url.origin} is not the admin side of a gateway`);
      if (response.status === 401 || response.status === 403 || response.status === 429)
        throw new CommandFailure(`${url.origin}: ${messageOf(json) ?? `status ${response.status}`}`);
      return { status: response.status, body: json };
    },
  };
}

/** Returns the message in an error response from the admin side, or undefined if there is none. */
export function messageOf(body: unknown): string | undefined {
  const { error } = membersOf(body);
  return typeof error === 'string' ? error : undefined;
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown error';
  const { cause } = error;
  if (error.name === 'TimeoutError') return 'it did not respond in time';
  return cause instanceof Error && 'code' in cause ? String(cause.code) : error.name;
}

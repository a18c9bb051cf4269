import {
  type Command,
  type CommandEntry,
  CommandFailure,
  type CommandIo,
  type CommandLine,
  type Flag,
} from '../lib/command.ts';
import { membersOf } from '../lib/plain-object.ts';
import type { Settings } from './config/settings.ts';
import type { Contract } from './contract/load-contract.ts';
import type { IsAccepted } from './model/acceptance.ts';
import type { StoredRecords } from './model/ledger-entry.ts';

/** A command of the program that belongs to a feature. Its module is imported only when it is needed. */
export interface FeatureCommand extends Pick<CommandEntry, 'name'> {
  load(tools: CommandTools): Promise<Command>;
}

/** What the program gives to the commands of features. */
export interface CommandTools {
  /** The flags of commands that read the configuration. */
  readonly configFlags: readonly Flag[];
  /** The flags of commands that send requests to the admin side of a running gateway, and the help text about them. */
  readonly adminFlags: readonly Flag[];
  readonly adminNotes: readonly string[];
  /** Reads the configuration. Throws a `StartFault` with all errors in it. */
  settings(line: CommandLine, io: CommandIo): Promise<Settings>;
  /** Compiles the gateway without connections or listeners, and passes what commands need of it to `use`. */
  inspect<T>(settings: Settings, use: (inspected: Inspected) => Promise<T>): Promise<T>;
  /** Returns the gateway's records of violations and traffic. Throws a `UsageError` if no feature keeps them. */
  records(settings: Settings): StoredRecords;
  /** Returns a client for the admin side of the gateway that the command line and the configuration name. */
  admin(line: CommandLine, io: CommandIo): AdminClient;
}

/** What commands need of a compiled gateway. */
interface Inspected {
  readonly contract: Contract;
  readonly isAccepted: IsAccepted;
}

/** A client for a running gateway's admin side. */
export interface AdminClient {
  /** The address as shown in messages. */
  readonly url: string;
  /**
   * Sends a request and returns the response's status and JSON body. Throws a `CommandFailure` if no server listens at
   * the address, if the token is refused, or if the response does not come from a gateway.
   */
  send(method: 'GET' | 'POST', path: string, body?: unknown): Promise<AdminResponse>;
}

/** A response of the admin side. */
export interface AdminResponse {
  readonly status: number;
  readonly body: unknown;
}

/**
 * Returns the failure of a request that the admin side has refused, with all that is wrong with the request. `flags` are
 * the flags that users know instead of the fields of the request.
 */
export function refusalFailure(
  { status, body }: AdminResponse,
  flags: Readonly<Record<string, string>> = {},
): CommandFailure {
  const { error, faults } = membersOf(body);
  const lines = (Array.isArray(faults) ? faults : []).map((fault: unknown) => {
    const { field, message } = membersOf(fault);
    const name = String(field);
    return name === '' ? String(message) : `${flags[name] ?? name}: ${String(message)}`;
  });
  if (lines.length > 0) return new CommandFailure(lines.join('\n'));
  return new CommandFailure(typeof error === 'string' ? error : `status ${status}`);
}

/** Warns if a change took effect but could not be stored, which the admin side states as `stored`. */
export function warnIfUnstored({ stored }: { readonly stored?: unknown }, io: CommandIo): void {
  if (stored === false)
    io.err('warning: the change applies, but it could not be stored, so it is lost when the process ends');
}

import { resolve } from 'node:path';
import { readSecretFile } from '../../files/secret-file.ts';
import { toAuthorization } from '../../lib/basic-credentials.ts';
import { CommandFailure, type CommandIo, type CommandLine, type Flag, UsageError } from '../command.ts';
import { readSecret } from '../terminal/read-secret.ts';

/**
 * The flag of commands that log in to a server. There is no flag for the password, because other users on the machine
 * could see it.
 */
export const USER_FLAG: Flag = {
  name: 'user',
  value: 'NAME',
  help: 'User name; the password comes from PORTICO_PASSWORD or a prompt.',
};

/** The flag of commands that can read the password from a file. */
export const PASSWORD_FILE_FLAG: Flag = {
  name: 'password-file',
  value: 'FILE',
  help: 'A file whose first line is the password for --user.',
};

/**
 * Returns the value of the `Authorization` header for the specified user, or undefined if `--user` is absent. Throws a
 * UsageError if the user name is invalid or the password is empty, and a CommandFailure if the file cannot be read.
 */
export async function readCredential(line: CommandLine, io: CommandIo): Promise<string | undefined> {
  const [user, file] = [line.last('user'), line.last('password-file')];
  if (user === undefined && file === undefined) return undefined;
  if (user === undefined || user === '' || user.includes(':'))
    throw new UsageError(
      file === undefined
        ? '--user must be a user name without a colon'
        : '--password-file requires --user with a user name without a colon',
    );
  if (file !== undefined) return toAuthorization(user, passwordIn(resolve(io.cwd, file)));
  const password = io.env['PORTICO_PASSWORD'] ?? (await readSecret(io, `Password of ${user}: `));
  if (password === '')
    throw new UsageError(`no password for ${user}: set PORTICO_PASSWORD or enter it on standard input`);
  return toAuthorization(user, password);
}

function passwordIn(file: string): string {
  const secret = readSecretFile(file);
  if ('fault' in secret) throw new CommandFailure(secret.fault);
  return secret.text;
}

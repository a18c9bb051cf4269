import { toAuthorization } from '../identity/basic-authorization.ts';
import type { CommandIo } from './command-io.ts';
import { type CommandLine, UsageError } from './command.ts';
import { readSecret } from './read-secret.ts';

/** The credential of a walk; undefined without `--user`. The password is never a flag: others could read it. */
export async function walkCredential(line: CommandLine, io: CommandIo): Promise<string | undefined> {
  const user = line.last('user');
  if (user === undefined) return undefined;
  if (user === '' || user.includes(':')) throw new UsageError('--user must be a name, without a colon');
  const given = io.env['PORTICO_PASSWORD'];
  const password = given ?? (await readSecret(io, `Password of ${user}: `));
  if (password === '')
    throw new UsageError(`no password for ${user}: set PORTICO_PASSWORD, or give it on standard input`);
  return toAuthorization(user, password);
}

import { resolve } from 'node:path';
import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import { readSecretFile } from '../../lib/secret-file.ts';
import { toAuthorization } from '../../lib/basic-credentials.ts';
import { CommandFailure, type CommandIo, type CommandLine, type Flag, UsageError } from '../../lib/command.ts';

/**
 * The flag for commands that log in to a server. There is no flag for the password, because other users on the machine
 * could see it.
 */
export const USER_FLAG: Flag = {
  name: 'user',
  value: 'NAME',
  help: 'User name; the password comes from PORTICO_PASSWORD or a prompt.',
};

/** The flag for commands that can read the password from a file. */
export const PASSWORD_FILE_FLAG: Flag = {
  name: 'password-file',
  value: 'FILE',
  help: 'A file whose first line is the password for --user.',
};

/**
 * Returns the `Authorization` header value for the specified user, or undefined if `--user` is absent. Throws a
 * UsageError if the user name is invalid or the password is empty, and a CommandFailure if the file cannot be read.
 */
export async function readCredential(line: CommandLine, io: CommandIo): Promise<string | undefined> {
  const [user, file] = [line.last('user'), line.last('password-file')];
  if (user === undefined && file === undefined) return undefined;
  if (user === undefined || user === '' || user.includes(':')) {
    const problem = file === undefined ? '--user must be' : '--password-file requires --user with';
    throw new UsageError(`${problem} a user name without a colon`);
  }
  if (file !== undefined) {
    const secret = readSecretFile(resolve(io.cwd, file));
    if ('fault' in secret) throw new CommandFailure(secret.fault);
    return toAuthorization(user, secret.text);
  }
  const password = io.env['PORTICO_PASSWORD'] ?? (await readPassword(io, `Password of ${user}: `));
  if (password !== '') return toAuthorization(user, password);
  throw new UsageError(`no password for ${user}: set PORTICO_PASSWORD or enter it on standard input`);
}

/**
 * Reads a password. From a terminal, reads one line without echoing it. From any other input, reads all text except a
 * final newline.
 */
export async function readPassword({ stdin }: Pick<CommandIo, 'stdin'>, prompt: string): Promise<string> {
  if (stdin.isTTY !== true) {
    const parts: Buffer[] = [];
    for await (const part of stdin) parts.push(Buffer.from(part));
    const text = Buffer.concat(parts).toString('utf8');
    return text.replace(/\r?\n$/, '');
  }
  // The line editor echoes typed text to its output. This output discards the text.
  const discard = new Writable({ write: (_chunk, _encoding, done) => done() });
  const editor = createInterface({ input: stdin, output: discard, terminal: true });
  try {
    process.stderr.write(prompt);
    const text = await editor.question('');
    process.stderr.write('\n');
    return text;
  } finally {
    editor.close();
  }
}

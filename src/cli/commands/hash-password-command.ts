import { hashPassword } from '../../engine/identity/password-hash.ts';
import { EXIT, UsageError } from '../../lib/command.ts';
import type { ProgramCommand } from '../program.ts';
import { readPassword } from '../flags/credentials.ts';

/** The `portico hash-password` command prints the hash of a password, for use in the roles file. */
export const hashPasswordCommand: ProgramCommand = {
  name: 'hash-password',
  summary: 'Read a password from standard input and print its argon2id hash for the roles file',
  args: '',
  // Any number of arguments is accepted here so that `run()` can reject them with a message that does not contain the
  // password.
  argCount: [0, Number.POSITIVE_INFINITY],
  flags: [],
  notes: [
    'The terminal does not echo the password. You can also pipe it in: printf %s "$PASSWORD" | portico hash-password',
  ],
  run: async (line, io) => {
    if (line.args.length > 0)
      throw new UsageError(
        'hash-password does not take arguments, because other users can see them: enter the password on standard input',
      );
    const password = await readPassword(io, 'Password: ');
    if (password === '') {
      io.err('portico hash-password: the password is empty');
      return EXIT.failed;
    }
    io.out(await hashPassword(password));
    return EXIT.ok;
  },
};

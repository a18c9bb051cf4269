import { hashPassword } from '../../identity/password-hash.ts';
import { type Command, EXIT, UsageError } from '../command.ts';
import { readSecret } from '../terminal/read-secret.ts';

/** `portico hash-password`: a password becomes the text that the roles file wants. */
export const hashPasswordCommand: Command = {
  name: 'hash-password',
  summary: 'Read a password from standard input and print its argon2id hash for the roles file',
  words: '',
  // Words are taken to be refused without being repeated: one would be the password.
  wordCount: [0, Number.POSITIVE_INFINITY],
  flags: [],
  notes: ['Typed passwords are not shown. From a pipe: printf %s "$PASSWORD" | portico hash-password'],
  run: async (line, io) => {
    if (line.words.length > 0)
      throw new UsageError('hash-password takes no words: others could read them; give the password on standard input');
    const password = await readSecret(io, 'Password: ');
    if (password === '') {
      io.err('portico hash-password: the password is empty');
      return EXIT.failed;
    }
    io.out(await hashPassword(password));
    return EXIT.ok;
  },
};

import { hashPassword } from '../identity/password-hash.ts';
import { type Command, EXIT } from './command.ts';
import { readSecret } from './read-secret.ts';

/** `portico hash-password`: a password becomes the text that the roles file wants. */
export const hashPasswordCommand: Command = {
  name: 'hash-password',
  summary: 'Read a password from standard input and print its argon2id hash for the roles file',
  words: '',
  wordCount: [0, 0],
  flags: [],
  notes: ['Typed passwords are not shown. From a pipe: printf %s "$PASSWORD" | portico hash-password'],
  run: async (_line, io) => {
    const password = await readSecret(io, 'Password: ');
    if (password === '') {
      io.err('portico hash-password: the password is empty');
      return EXIT.failed;
    }
    io.out(await hashPassword(password));
    return EXIT.ok;
  },
};

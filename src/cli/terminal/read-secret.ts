import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import type { CommandIo } from '../command.ts';

/**
 * Reads a secret. From a terminal, reads one line without echoing it. From any other input, reads all text except a
 * final newline.
 */
export async function readSecret(io: CommandIo, prompt: string): Promise<string> {
  if (io.stdin.isTTY !== true) {
    const parts: Buffer[] = [];
    for await (const part of io.stdin) parts.push(Buffer.from(part));
    return Buffer.concat(parts)
      .toString('utf8')
      .replace(/\r?\n$/, '');
  }
  // The line editor echoes typed text to its output. This output discards the text.
  const discard = new Writable({ write: (_chunk, _encoding, done) => done() });
  const editor = createInterface({ input: io.stdin, output: discard, terminal: true });
  try {
    process.stderr.write(prompt);
    const text = await editor.question('');
    process.stderr.write('\n');
    return text;
  } finally {
    editor.close();
  }
}

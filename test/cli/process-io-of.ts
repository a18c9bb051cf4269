import { Readable } from 'node:stream';
import type { CommandIo } from '../../src/lib/command.ts';
import '../builders/compiled-contract.ts';

/** Creates streams that collect the output of a program running in this process. */
export function processIoOf(
  cwd: string,
  { env = {}, input = '' }: { readonly env?: Readonly<Record<string, string>>; readonly input?: string } = {},
): { readonly io: CommandIo; readonly text: { out: string; err: string } } {
  const text = { out: '', err: '' };
  const io = {
    out: (line: string) => void (text.out += `${line}\n`),
    err: (line: string) => void (text.err += `${line}\n`),
    stdin: Readable.from([Buffer.from(input)]),
    env,
    cwd,
  };
  return { io, text };
}

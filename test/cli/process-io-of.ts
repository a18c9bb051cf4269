import { Readable } from 'node:stream';
import { loadContract } from '../../src/engine/contract/load-contract.ts';
import type { CommandIo } from '../../src/lib/command.ts';
import { CONTRACT_DEFAULTS } from '../../src/portico-settings.ts';

/** Keeps the contract in memory, so that commands need not compile it again. */
export const contract = loadContract(CONTRACT_DEFAULTS);

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

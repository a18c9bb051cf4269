import { StartFault } from '../model/fault.ts';
import { CommandFailure } from './command.ts';
import { faultLines } from './fault-lines.ts';

/** What to tell a person about an error that ended a command. */
export function failureLines(error: unknown): string[] {
  if (error instanceof StartFault) return faultLines(error.faults);
  if (error instanceof CommandFailure) return [`portico: ${error.message}`];
  if (!(error instanceof Error)) return [`portico failed: ${String(error)}`];
  const listening = listenFailure(error);
  if (listening !== undefined) return [listening];
  return [`portico failed: ${error.stack ?? error.message}`];
}

function listenFailure(error: Error): string | undefined {
  const { code, syscall, address, port } = error as NodeJS.ErrnoException & { address?: string; port?: number };
  if (syscall !== 'listen' && syscall !== 'getaddrinfo') return undefined;
  const place = `${address ?? 'the address'}${port === undefined ? '' : `:${port}`}`;
  if (code === 'EADDRINUSE')
    return `portico cannot listen on ${place}: something else does already (choose another with PORT or ADMIN_PORT, or the flags)`;
  if (code === 'EACCES') return `portico may not listen on ${place}: ports below 1024 need a privilege`;
  if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND')
    return `portico cannot listen on ${place}: this machine has no such address (HOST, ADMIN_HOST)`;
  return undefined;
}

/** A process as far as its parent and its end go. */
export interface ChildProcessView {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly pid: number;
  readonly ppid: number;
  kill(pid: number, signal: 'SIGTERM'): unknown;
}

const LOOK_MS = 500;

/**
 * Ends with the package runner that started us. `npm start` puts a shell between itself and the program, and that shell
 * dies of a SIGTERM without passing it on: the gateway would go on answering with nobody to stop it.
 */
export function endWithRunner(self: ChildProcessView = process): void {
  if (self.env['npm_lifecycle_event'] === undefined) return;
  const runner = self.ppid;
  const timer = setInterval(() => {
    if (self.ppid === runner) return;
    clearInterval(timer);
    self.kill(self.pid, 'SIGTERM');
  }, LOOK_MS).unref();
}

import type { Clock } from '../../lib/clock.ts';

type EndSignal = 'SIGTERM' | 'SIGINT';

interface SignalSource {
  on(signal: EndSignal, listener: () => void): unknown;
}

// The time, in milliseconds, within which a second signal is treated as an echo of the first. An echo occurs if a
// package runner forwards a signal that the terminal has already sent to the whole process group.
const ECHO_MS = 500;

/** Resolves on the first SIGTERM or SIGINT. Calls `onRepeat` on the next signal that is not an echo of the first. */
export function untilSignal(source: SignalSource, clock: Clock, onRepeat: () => void): Promise<EndSignal> {
  return new Promise((resolve) => {
    let firstAt: number | undefined;
    let ended = false;
    const received = (signal: EndSignal): void => {
      const now = clock();
      if (firstAt === undefined) {
        firstAt = now;
        resolve(signal);
      } else if (!ended && now - firstAt >= ECHO_MS) {
        // The listeners remain registered. Without them, another signal would end the process with a different exit
        // code.
        ended = true;
        onRepeat();
      }
    };
    source.on('SIGTERM', () => received('SIGTERM'));
    source.on('SIGINT', () => received('SIGINT'));
  });
}

/**
 * Returns a signal that aborts on the first SIGINT or SIGTERM, so that a user or a supervisor can end a long command
 * early. A second SIGINT or SIGTERM ends the process as usual. `release` removes the listeners.
 */
export function untilInterrupted(): { readonly signal: AbortSignal; release(): void } {
  const controller = new AbortController();
  const stop = () => controller.abort();
  process.once('SIGINT', stop).once('SIGTERM', stop);
  return { signal: controller.signal, release: () => void process.off('SIGINT', stop).off('SIGTERM', stop) };
}

/** The parts of a process that {@link endWithRunner} uses. */
interface ChildProcessView {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly pid: number;
  readonly ppid: number;
  kill(pid: number, signal: 'SIGTERM'): unknown;
}

const POLL_MS = 500;

/**
 * Ends the process when the package runner that started it ends. `npm start` runs the program in a shell, which exits
 * on SIGTERM without forwarding the signal. Without this function, the gateway would continue to run without a parent.
 */
export function endWithRunner(self: ChildProcessView = process): void {
  if (self.env['npm_lifecycle_event'] === undefined) return;
  const runner = self.ppid;
  const timer = setInterval(() => {
    if (self.ppid === runner) return;
    clearInterval(timer);
    self.kill(self.pid, 'SIGTERM');
  }, POLL_MS).unref();
}

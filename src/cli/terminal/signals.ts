import { closeSync, openSync } from 'node:fs';
import type { Clock } from '../../lib/clock.ts';

type EndSignal = 'SIGTERM' | 'SIGINT';

interface SignalSource {
  on(signal: EndSignal, listener: () => void): unknown;
}

// The time, in milliseconds, within which a second signal is treated as an echo of the first. Echoes occur when a
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
 * Returns an `AbortSignal` that the first SIGINT or SIGTERM aborts, so that a user or a supervisor can end a
 * long-running command early. A second SIGINT or SIGTERM ends the process as usual. `release` removes the listeners.
 */
export function untilInterrupted(): { readonly signal: AbortSignal; release(): void } {
  const controller = new AbortController();
  const stop = () => controller.abort();
  process.once('SIGINT', stop).once('SIGTERM', stop);
  return { signal: controller.signal, release: () => void process.off('SIGINT', stop).off('SIGTERM', stop) };
}

/** The parts of a process used by {@link endWithRunner}. */
interface ChildProcessView {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly pid: number;
  readonly ppid: number;
  kill(pid: number, signal: 'SIGTERM'): unknown;
}

const POLL_MS = 500;

/**
 * Ends the process when the package runner that started it exits. `npm start` runs the program in a shell, which exits
 * on SIGTERM without forwarding the signal. Without this function, the gateway would keep running after its parent had
 * exited.
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

interface ReloadSignalSource {
  on(signal: 'SIGHUP', listener: () => void): unknown;
}

interface ReloadSignalActions {
  readonly onReload: () => void;
  /** Called instead of `onReload` if the terminal from which the process was started has been closed. */
  readonly onHangup: () => void;
  readonly isTerminalGone: () => boolean;
}

/**
 * Reloads the configuration on each SIGHUP. A terminal sends the same signal when it closes. In that case, the gateway
 * must end so that it does not run unnoticed and occupy its ports.
 */
export function onReloadSignal(source: ReloadSignalSource, actions: ReloadSignalActions): void {
  source.on('SIGHUP', () => {
    if (actions.isTerminalGone()) actions.onHangup();
    else actions.onReload();
  });
}

/**
 * Returns a function that reports whether the terminal from which the process was started has been closed. If the
 * process was not started from a terminal (for example, by a supervisor), the function always returns false.
 */
export function terminalWatch(isTerminal: boolean): () => boolean {
  return () => {
    if (!isTerminal) return false;
    try {
      closeSync(openSync('/dev/tty', 'r'));
      return false;
    } catch {
      return true;
    }
  };
}

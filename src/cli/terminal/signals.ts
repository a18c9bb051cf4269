import type { Clock } from '../../lib/clock.ts';

type EndSignal = 'SIGTERM' | 'SIGINT';

/** A process as far as its signals go. */
export interface SignalSource {
  on(signal: EndSignal, listener: () => void): unknown;
  off(signal: EndSignal, listener: () => void): unknown;
}

// Package runners pass on a signal that the terminal has sent to the whole group already.
const ECHO_MS = 500;

/** Resolves with the first SIGTERM or SIGINT; `again` is called at the next one that is not an echo of the first. */
export function untilSignal(source: SignalSource, clock: Clock, again: () => void): Promise<EndSignal> {
  return new Promise((resolve) => {
    let firstAt: number | undefined;
    const received = (signal: EndSignal): void => {
      const now = clock();
      if (firstAt === undefined) {
        firstAt = now;
        resolve(signal);
      } else if (now - firstAt >= ECHO_MS) {
        source.off('SIGTERM', terminated);
        source.off('SIGINT', interrupted);
        again();
      }
    };
    const terminated = () => received('SIGTERM');
    const interrupted = () => received('SIGINT');
    source.on('SIGTERM', terminated);
    source.on('SIGINT', interrupted);
  });
}

/** Says when a person or a supervisor wants a long command to end early. */
export interface Interruption {
  readonly signal: AbortSignal;
  /** Leaves the signals of the process to others again. */
  release(): void;
}

/** Aborts its signal at the first SIGINT or SIGTERM; the one after that ends the process as ever. */
export function untilInterrupted(): Interruption {
  const controller = new AbortController();
  const stop = () => controller.abort();
  process.once('SIGINT', stop).once('SIGTERM', stop);
  return {
    signal: controller.signal,
    release: () => void process.off('SIGINT', stop).off('SIGTERM', stop),
  };
}

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

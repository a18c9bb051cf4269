import { closeSync, openSync } from 'node:fs';

interface ReloadSignalSource {
  on(signal: 'SIGHUP', listener: () => void): unknown;
}

interface ReloadSignalActions {
  readonly onReload: () => void;
  /** Called instead of `onReload` if the terminal that the process was started from has been closed. */
  readonly onHangup: () => void;
  readonly isTerminalGone: () => boolean;
}

/**
 * Reloads the configuration on each SIGHUP. A terminal sends the same signal when it is closed. In that case, the
 * gateway must end, so that it does not run unnoticed and occupy its ports.
 */
export function onReloadSignal(source: ReloadSignalSource, actions: ReloadSignalActions): void {
  source.on('SIGHUP', () => {
    if (actions.isTerminalGone()) actions.onHangup();
    else actions.onReload();
  });
}

/**
 * Returns a function that reports whether the terminal that the process was started from has been closed. If the
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

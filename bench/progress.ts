/** Prints the run's progress to standard error, one line per step. */
export interface Progress {
  say(text: string): void;
  /** On a terminal, overwrites the current line. Otherwise, prints at most one line every five seconds. */
  tick(text: string): void;
  /** Sets the expected total duration, in seconds. It is shown next to the elapsed time. */
  expect(seconds: number): void;
}

/**
 * Creates a progress display. Each line begins with the number of seconds since the given instant (epoch
 * milliseconds).
 */
export function createProgress(startedAt: number): Progress {
  const isTerminal = process.stderr.isTTY;
  let expected = '';
  let tickedAt = 0;
  let open = false;
  const passed = () => `${((Date.now() - startedAt) / 1000).toFixed(0).padStart(4)}${expected} s  `;
  const close = () => {
    if (open) process.stderr.write('\n');
    open = false;
  };
  return {
    say: (text) => {
      close();
      process.stderr.write(`${passed()}${text}\n`);
    },
    tick: (text) => {
      if (isTerminal) {
        process.stderr.write(`\r\u001B[K${passed()}${text}`);
        open = true;
      } else if (Date.now() - tickedAt > 5000) {
        tickedAt = Date.now();
        process.stderr.write(`${passed()}${text}\n`);
      }
    },
    expect: (seconds) => {
      expected = `/${seconds.toFixed(0)}`;
    },
  };
}

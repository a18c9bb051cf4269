/** Says where the run is, on standard error, one line a step. */
export interface Progress {
  say(text: string): void;
  /** Overwrites the current line on a terminal; elsewhere only every fifth second is written. */
  tick(text: string): void;
  /** How long everything will take about, in seconds since the start; shown beside the time that has passed. */
  expect(seconds: number): void;
}

/** Progress with the seconds since an instant (epoch milliseconds) in front of each line. */
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

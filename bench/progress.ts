/** Says where the run is, on standard error, one line a step. */
export interface Progress {
  say(text: string): void;
  /** Overwrites the current line on a terminal; elsewhere only every fifth second is written. */
  tick(text: string): void;
}

/** Progress with the time since the start in front of each line. */
export function createProgress(): Progress {
  const startedAt = performance.now();
  const seconds = () => `${((performance.now() - startedAt) / 1000).toFixed(0).padStart(4)} s  `;
  const isTerminal = process.stderr.isTTY;
  let tickedAt = 0;
  let open = false;
  const close = () => {
    if (open) process.stderr.write('\n');
    open = false;
  };
  return {
    say: (text) => {
      close();
      process.stderr.write(`${seconds()}${text}\n`);
    },
    tick: (text) => {
      if (isTerminal) {
        process.stderr.write(`\r\u001B[K${seconds()}${text}`);
        open = true;
      } else if (performance.now() - tickedAt > 5000) {
        tickedAt = performance.now();
        process.stderr.write(`${seconds()}${text}\n`);
      }
    },
  };
}

/** Tells how far a walk is: now and then a plain line. */
export interface Progress {
  readonly step: (sent: number, what: string) => void;
  readonly end: () => void;
}

const EVERY = 50;

/** Progress in lines; at a terminal one line that is written over. */
export function createProgress(say: (line: string) => void, terminal: NodeJS.WriteStream = process.stderr): Progress {
  const live = terminal.isTTY;
  return {
    step: (sent, what) => {
      if (live) terminal.write(`\r\u001B[K${sent} requests, ${what}`);
      else if (sent % EVERY === 0) say(`${sent} requests, ${what}`);
    },
    end: () => {
      if (live) terminal.write('\r\u001B[K');
    },
  };
}

import { writeFileSync } from 'node:fs';
import { monitorEventLoopDelay } from 'node:perf_hooks';

/*
 * This module is loaded into a gateway process with `--import`. It measures the longest turn of the event loop. On each
 * SIGUSR2, it writes the result to the file that PROBE_FILE names and starts a new measurement. It measures both the
 * delay and the CPU time, because other processes on a busy machine make a turn take longer without adding to its work.
 */

const delay = monitorEventLoopDelay({ resolution: 1 });
delay.enable();
let longest = 0;
let last = 0;

/** Returns the CPU time of this thread in microseconds. */
function processorTime(): number {
  const { user, system } = process.threadCpuUsage();
  return user + system;
}

// Ends the current turn. A timer runs at most once in each turn of the event loop, so the time between two runs is the
// length of one turn, plus at most a millisecond of shorter turns. `setImmediate` would measure each turn exactly, but
// would keep the processor busy between requests.
function endTurn(): void {
  const now = processorTime();
  longest = Math.max(longest, now - last);
  last = now;
}

last = processorTime();
setInterval(endTurn, 1).unref();
process.on('SIGUSR2', () => {
  writeFileSync(process.env['PROBE_FILE'] ?? '', JSON.stringify({ turnMs: longest / 1000, delayMs: delay.max / 1e6 }));
  // The next measurement must not include the time it takes to write the file.
  last = processorTime();
  longest = 0;
  delay.reset();
});

import { chromium, type Browser } from 'playwright-core';

// A test machine has no display, no other users, and no network connection for the requests that a browser makes at
// startup. The pages can reach no host except the machine itself. The pages of a context share a process, because starting
// one takes a quarter of the CPU time of a short visit.
const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--renderer-process-limit=1',
  '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1',
];

let launched: Promise<Browser> | undefined;

/**
 * Returns this worker's headless Chromium. All test files that the worker runs share it. Each file opens its own
 * browser context and closes only that one. Playwright closes the browser when the worker process exits.
 */
export function launch(executablePath: string): Promise<Browser> {
  return (launched ??= chromium.launch({ executablePath, headless: true, args: FLAGS, timeout: 120_000 }));
}

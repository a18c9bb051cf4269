import { chromium, type Browser } from 'playwright-core';

// A test machine has no display and no other users. It also has no network that a browser could use at startup.
const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

let launched: Promise<Browser> | undefined;

/**
 * Returns this worker's headless Chromium, which all test files share. Each file opens its own browser context and
 * closes only that. Playwright closes the browser when the worker process exits.
 */
export function launch(executablePath: string): Promise<Browser> {
  return (launched ??= chromium.launch({ executablePath, headless: true, args: FLAGS }));
}

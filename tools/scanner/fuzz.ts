import { readCommandLine, wrongUsage } from '../command-line.ts';

const HELP = `Mutates the examples of all success responses, and compares the scanner's results with those of the parser and the
validator. Exits with 1 if the scanner accepts a body that they do not accept, or reads something else from it.

Usage: npm run fuzz:scanner [-- FLAGS]

  --count N            Number of bodies; 100000 by default.
  --seed N             Seed of the bodies; the time by default. The same seed makes the same bodies.
  --help               Show this help.`;

const MAX_SHOWN = 2_000;

/** Compares this many bodies, prints the result and returns the exit code. */
export async function runFuzz(count: number, seed: number): Promise<number> {
  // `fuzz-scanner.ts` takes most of a second to load, and the help text does not need it.
  const { fuzzScanner } = await import('./fuzz-scanner.ts');
  const onProgress = (compared: number) => process.stderr.write(`\r${compared} of ${count}`);
  const { valid, invalid, closer, wrong } = fuzzScanner({ count, seed, onProgress });
  process.stderr.write('\n');
  console.log(
    `seed ${seed}: ${count} bodies, ${valid} valid, ${invalid} invalid, ${closer} valid but looked at closer`,
  );
  for (const { name, what, body } of wrong) console.log(`${name}: ${what}\n${body.toString('latin1', 0, MAX_SHOWN)}`);
  console.log(`${wrong.length === 0 ? 'no' : 'some'} wrong results`);
  return wrong.length === 0 ? 0 : 1;
}

if (import.meta.main) {
  const { values } = readCommandLine(HELP, { count: { type: 'string' }, seed: { type: 'string' } });
  const count = Number(values.count ?? 100_000);
  const seed = Number(values.seed ?? Date.now() % 1_000_000);
  if (!Number.isSafeInteger(count) || count < 1) wrongUsage('--count must be a positive integer');
  if (!Number.isSafeInteger(seed)) wrongUsage('--seed must be an integer');
  process.exitCode = await runFuzz(count, seed);
}

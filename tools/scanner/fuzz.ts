import { parseArgs } from 'node:util';

const HELP = `usage: node tools/scanner/fuzz.ts [--count N] [--seed N]

Mutates the examples of all success responses, and compares the scanner's results with those of the parser and the
validator. Exits with 1 if the scanner accepts a body that they do not accept, or reads something else from it.

  --count   the number of bodies (default 100000)
  --seed    the same seed makes the same bodies (default: the time)
`;

const MAX_SHOWN = 2_000;

/** Parses the arguments, prints the result of the comparison and returns the exit code. */
export async function runFuzz(args: readonly string[]): Promise<number> {
  try {
    return await run(args);
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    console.error(`${error.message}\n\n${HELP}`);
    return 2;
  }
}

async function run(args: readonly string[]): Promise<number> {
  const { values } = parseArgs({
    args: [...args],
    options: { count: { type: 'string' }, seed: { type: 'string' }, help: { type: 'boolean' } },
  });
  if (values.help === true) {
    console.log(HELP);
    return 0;
  }
  const count = Number(values.count ?? 100_000);
  const seed = Number(values.seed ?? Date.now() % 1_000_000);
  if (!Number.isSafeInteger(count) || !Number.isSafeInteger(seed) || count < 1)
    throw new TypeError('--count and --seed are integers');
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

if (import.meta.main) process.exitCode = await runFuzz(process.argv.slice(2));

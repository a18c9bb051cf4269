import { parseArgs } from 'node:util';

/** The parsed command line. */
export interface Arguments {
  readonly help: boolean;
  readonly quick: boolean;
  readonly strict: boolean;
  readonly against: string | undefined;
  readonly only: readonly string[];
  readonly micro: boolean;
  readonly profile: string | undefined;
  readonly out: string | undefined;
}

/** The text of `--help`. */
export const USAGE = `usage: npm run bench -- [--quick] [--only NAME]... [--out FOLDER] [--strict]
                            [--against REF | --micro | --profile NAME]

Compares Portico with nginx, Varnish, HAProxy and proxies written for Node, on the same pages, each alone on one core.

  --quick        run short warm-ups and rounds, in less than four minutes; the numbers are rough
  --only NAME    run only the part NAME, or all parts whose names begin with NAME-; may be repeated
  --out FOLDER   write the results to this folder; by default, a full run writes RESULTS.md and results.svg to bench/,
                 and everything else goes to bench/out/
  --strict       exit with 1 if a target is missed or, in a full run, not measured
  --against REF  compare the working tree with a git ref: new processes for each round, in alternating order
  --micro        measure the stages of a request separately: MICRO.md, micro.json
  --profile NAME profile the first Portico of a scenario, and write a summary and a flame graph
  --help         show this help

Names: NAMES

wrk is required. nginx, Varnish and HAProxy are measured only if they are installed.
Exit codes: 0 success, 1 failure (or a missed target, with --strict), 2 wrong usage.
`;

/** Parses the command line. If it is not valid, returns an error message. */
export function readArguments(args: readonly string[], names: readonly string[]): Arguments | string {
  let values;
  try {
    ({ values } = parseArgs({
      args: [...args],
      options: {
        help: { type: 'boolean', default: false },
        quick: { type: 'boolean', default: false },
        strict: { type: 'boolean', default: false },
        against: { type: 'string' },
        micro: { type: 'boolean', default: false },
        profile: { type: 'string' },
        only: { type: 'string', multiple: true, default: [] },
        out: { type: 'string' },
      },
    }));
  } catch (error) {
    return (error as Error).message;
  }
  const modes = [values.against, values.profile, values.micro ? 'micro' : undefined];
  if (modes.filter((mode) => mode !== undefined).length > 1)
    return 'only one of --against, --micro and --profile can be used at a time';
  const unknown = values.only.find((only) => !names.some((name) => isSelected(name, [only], names)));
  if (unknown !== undefined) return `there is no part called ${unknown}; the names: ${names.join(', ')}`;
  return { ...values, against: values.against, profile: values.profile, out: values.out };
}

/**
 * Returns whether `--only` selects a part. A part is selected by its name or, if no part has the given name, by the
 * beginning of its name. Without `--only`, every part is selected.
 */
export function isSelected(name: string, only: readonly string[], names: readonly string[]): boolean {
  const isMeant = (one: string) => (names.includes(one) ? name === one : name.startsWith(`${one}-`));
  return only.length === 0 || only.some(isMeant);
}

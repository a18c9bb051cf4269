import { parseArgs } from 'node:util';

/** What the command line asks for. */
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

Measures Portico beside nginx, Varnish, HAProxy and proxies written for Node, on the same pages, each on one core.

  --quick        short rounds, under three minutes; the numbers are rough
  --only NAME    only the part NAME, or all whose names begin with NAME-; may be repeated
  --out FOLDER   where RESULTS.md, results.json and results.svg go; bench/ for a full run, else bench/out/
  --strict       exit with 1 when a target is missed or, in a whole run, not measured
  --against REF  compare the working tree with a git ref instead: fresh processes for each round, order alternated
  --micro        measure the stages of a request alone instead: MICRO.md, micro.json
  --profile NAME profile the first Portico of a scenario instead: where its time goes, as Markdown and a flame graph
  --help         show this

The names: NAMES

wrk is needed; nginx, Varnish and HAProxy are left out where they are not installed.
Exit codes: 0 it ran, 1 it failed (or a target is missed, with --strict), 2 wrong usage.
`;

/** Reads the command line; answers a text instead when it cannot be understood. */
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
    return 'only one of --against, --micro and --profile can be had at a time';
  const unknown = values.only.find((only) => !names.some((name) => isNamed(name, [only], names)));
  if (unknown !== undefined) return `there is no part called ${unknown}; the names: ${names.join(', ')}`;
  return { ...values, against: values.against, profile: values.profile, out: values.out };
}

/** Whether a part is asked for: by its name, or with all that begin so where no part has that name; without `--only` every part is. */
export function isNamed(name: string, only: readonly string[], names: readonly string[]): boolean {
  const isMeant = (one: string) => (names.includes(one) ? name === one : name.startsWith(`${one}-`));
  return only.length === 0 || only.some(isMeant);
}

import { parseArgs } from 'node:util';
import { PARTS } from './cases.ts';

/** The parsed command line. */
export interface Arguments {
  readonly help: boolean;
  readonly quick: boolean;
  readonly only: readonly string[];
  readonly micro: boolean;
  readonly against?: string | undefined;
  readonly profile?: string | undefined;
}

const NAMES = Object.keys(PARTS);

/** The text of `--help`. */
export const USAGE = `usage: npm run bench -- [--quick] [--only NAME]... [--against REF | --micro | --profile CASE]

Compares Portico with nginx and proxies written for Node, on the same pages, each alone on one core. A complete run
writes RESULTS.md and results.svg to bench/; everything else goes to bench/out/.

  --quick        run short warm-ups and rounds, in less than four minutes; the numbers are rough
  --only NAME    measure only one part: ${NAMES.join(', ')}; may be repeated
  --against REF  compare the working tree with a git ref
  --micro        measure the stages of a request separately
  --profile CASE profile a case of Portico, such as hit, miss, passthrough or new-target
  --help         show this help

wrk is required. nginx is measured if it is installed.
Exit codes: 0 success, 1 failure, 2 wrong usage.
`;

/** Parses the command line. If it is not valid, returns an error message. */
export function readArguments(args: readonly string[]): Arguments | string {
  let values;
  try {
    ({ values } = parseArgs({
      args: [...args],
      options: {
        help: { type: 'boolean', default: false },
        quick: { type: 'boolean', default: false },
        only: { type: 'string', multiple: true, default: [] },
        micro: { type: 'boolean', default: false },
        against: { type: 'string' },
        profile: { type: 'string' },
      },
    }));
  } catch (error) {
    return (error as Error).message;
  }
  const { against, profile, micro, only } = values;
  if ([against !== undefined, profile !== undefined, micro].filter(Boolean).length > 1)
    return 'only one of --against, --micro and --profile can be used at a time';
  const unknown = only.find((name) => !NAMES.includes(name));
  return unknown === undefined ? values : `there is no part called ${unknown}; the names: ${NAMES.join(', ')}`;
}

import { join } from 'node:path';
import { createConfig, lint } from '@redocly/openapi-core';
import { contractFolder } from '../src/contract/contract-files.ts';
import { parseSource, readSource } from '../src/contract/document/document-source.ts';
import { StartFault } from '../src/model/fault.ts';

const HELP = `usage: node tools/lint-contract.ts [--help]

Lints schemas/openapi.yaml with Redocly's recommended rules and checks its vendor extensions against
schemas/vendor-extensions.schema.json. Exits 1 when anything is an error; warnings are printed.

  --help   show this
`;

/** Runs both checks and returns the exit code. */
async function main(args: readonly string[]): Promise<number> {
  if (args.includes('--help')) {
    console.log(HELP);
    return 0;
  }
  if (args.length > 0) {
    console.error(`unknown argument ${args.join(', ')}\n\n${HELP}`);
    return 2;
  }
  const folder = contractFolder();
  const faults = extensionFaults(folder);
  for (const fault of faults) console.error(`error    ${fault}`);
  const config = await createConfig({ extends: ['recommended'] });
  const problems = await lint({ ref: join(folder, 'openapi.yaml'), config });
  for (const { severity, ruleId, message, location } of problems)
    console.error(`${severity.padEnd(8)} ${ruleId} ${location[0]?.pointer ?? ''}: ${message}`);
  const errors = problems.filter((problem) => problem.severity === 'error').length + faults.length;
  const warnings = problems.length + faults.length - errors;
  console.log(
    `schemas/openapi.yaml: vendor extensions and recommended OpenAPI rules, ${errors} errors, ${warnings} warnings`,
  );
  return errors === 0 ? 0 : 1;
}

function extensionFaults(folder: string): string[] {
  try {
    parseSource(readSource(folder));
    return [];
  } catch (error) {
    if (!(error instanceof StartFault)) throw error;
    return error.faults.map(
      ({ pointer, message, suggestion }) =>
        `extensions ${pointer}: ${message}${suggestion ? `; did you mean ${suggestion}?` : ''}`,
    );
  }
}

process.exitCode = await main(process.argv.slice(2));

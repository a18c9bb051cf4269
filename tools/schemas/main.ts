import { mkdirSync, readdirSync, rmdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { checkDocument } from '../../src/contract/document/check-document.ts';
import { checkSchemas } from '../../src/contract/document/check-schemas.ts';
import { contractFolder } from '../../src/contract/contract-files.ts';
import { parseSource, readSource } from '../../src/contract/document/document-source.ts';
import { StartFault } from '../../src/model/fault.ts';
import { compareFiles } from './compare-files.ts';
import { bundleSchemas } from './bundle-schemas.ts';
import { generateSchemas } from '../../src/contract/generate/generate-schemas.ts';

const HELP = `usage: node tools/schemas/main.ts [--check] [--folder FOLDER] [--help]

Generates the JSON Schemas in schemas/resources and schemas/operations from schemas/openapi.yaml, for readers and other
programs: Portico itself generates the same schemas in memory at start.

  --check           write nothing; name every missing, stale or superfluous file and exit 1 when there is one
  --folder FOLDER   the folder with openapi.yaml, for contract.folder of a configuration; schemas/ unless given
  --help            show this
`;

/** Runs the generator and returns its exit code. */
function main(args: readonly string[]): number {
  const at = args.indexOf('--folder');
  const given = at < 0 ? [] : args.slice(at, at + 2);
  const unknown = args.toSpliced(at, given.length).filter((arg) => arg !== '--check' && arg !== '--help');
  if (given.length === 1) unknown.push('--folder without a folder');
  if (unknown.length > 0) {
    console.error(`unknown argument ${unknown.join(', ')}\n\n${HELP}`);
    return 2;
  }
  if (args.includes('--help')) {
    console.log(HELP);
    return 0;
  }
  const folder = given[1] ?? contractFolder();
  const generated = generate(folder);
  const { missing, stale, superfluous } = compareFiles(folder, generated);
  const changed = missing.length + stale.length + superfluous.length;
  if (args.includes('--check')) {
    for (const file of missing) console.error(`missing      schemas/${file}`);
    for (const file of stale) console.error(`stale        schemas/${file}`);
    for (const file of superfluous) console.error(`superfluous  schemas/${file}`);
    console.log(changed === 0 ? `${generated.size} generated files are fresh` : 'run npm run schemas');
    return changed === 0 ? 0 : 1;
  }
  for (const file of [...missing, ...stale]) {
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    writeFileSync(join(folder, file), generated.get(file) ?? '');
  }
  for (const file of superfluous) {
    rmSync(join(folder, file));
    removeIfEmpty(dirname(join(folder, file)));
  }
  console.log(
    `${generated.size} files: ${missing.length} new, ${stale.length} changed, ${superfluous.length} removed, the rest as before`,
  );
  return 0;
}

function removeIfEmpty(folder: string): void {
  if (readdirSync(folder).length === 0) rmdirSync(folder);
}

/** Every generated file as text; always from the YAML, never from a cache. */
function generate(folder: string): ReadonlyMap<string, string> {
  const document = parseSource(readSource(folder));
  const faults = [...checkSchemas(document), ...checkDocument(document)];
  if (faults.length > 0) throw new StartFault(faults);
  return bundleSchemas(generateSchemas(document));
}

try {
  process.exitCode = main(process.argv.slice(2));
} catch (error) {
  if (!(error instanceof StartFault)) throw error;
  console.error(error.message);
  process.exitCode = 1;
}

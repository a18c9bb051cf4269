import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readCommandLine } from '../command-line.ts';
import { commands } from './commands.ts';
import { configurationKeys } from './configuration.ts';
import { extensions, operationList, requestRules, semanticRules } from './contract.ts';
import { alerts, auditRules, metrics } from './lists.ts';
import { withPart } from './markdown.ts';

const HELP = `Writes the generated parts of the pages in docs/, such as the tables of configuration keys and metrics.

Usage: node tools/pages/main.ts [FLAGS]

  --check              Write nothing. Exit with 1 if a page is stale.
  --help               Show this help.`;

/** The pages, each with the name of its generated part and a function that returns the part. */
const PARTS = [
  ['configuration.md', 'keys', configurationKeys],
  ['cli.md', 'commands', commands],
  ['metrics.md', 'metrics', metrics],
  ['audit.md', 'rules', auditRules],
  ['operations.md', 'alerts', alerts],
  ['contract.md', 'operations', operationList],
  ['contract.md', 'extensions', extensions],
  ['contract.md', 'semantic rules', semanticRules],
  ['contract.md', 'request rules', requestRules],
] as const;

const { values } = readCommandLine(HELP, { check: { type: 'boolean', default: false } });
for (const [page, name, partOf] of PARTS) {
  const path = join(import.meta.dirname, '../../docs', page);
  const text = readFileSync(path, 'utf8');
  const fresh = withPart(text, name, await partOf());
  if (fresh === text) continue;
  if (values.check) {
    console.error(`docs/${page} is stale: run node tools/pages/main.ts`);
    process.exitCode = 1;
  } else writeFileSync(path, fresh);
}

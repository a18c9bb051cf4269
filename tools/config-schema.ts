import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { format } from 'prettier';
import { configSchema } from '../src/config/config-schema.ts';

const HELP = `usage: node tools/config-schema.ts [--check]

Writes config/portico.schema.json, the schema that editors check config/portico.yaml with.

  --check   write nothing; exit with 1 if the file is stale
`;

const path = join(import.meta.dirname, '..', 'config', 'portico.schema.json');
const args = process.argv.slice(2);
if (args.some((arg) => arg !== '--check')) {
  console.log(HELP);
  process.exitCode = args.includes('--help') ? 0 : 2;
} else {
  const fresh = await format(JSON.stringify(configSchema()), { parser: 'json', printWidth: 120 });
  const stale = !existsSync(path) || readFileSync(path, 'utf8') !== fresh;
  if (stale && args.includes('--check')) {
    console.error('config/portico.schema.json is stale: run node tools/config-schema.ts');
    process.exitCode = 1;
  } else if (stale) writeFileSync(path, fresh);
}

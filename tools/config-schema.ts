import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { format } from 'prettier';
import { configSchema } from '../src/engine/config/config-schema.ts';
import { PORTICO } from '../src/portico-settings.ts';
import { readCommandLine } from './command-line.ts';

const HELP = `Writes config/portico.schema.json, the schema that editors check config/portico.yaml with.

Usage: node tools/config-schema.ts [FLAGS]

  --check              Write nothing. Exit with 1 if the file is stale.
  --help               Show this help.`;

const path = join(import.meta.dirname, '..', 'config', 'portico.schema.json');
const { values } = readCommandLine(HELP, { check: { type: 'boolean', default: false } });
const fresh = await format(JSON.stringify(configSchema(PORTICO)), { parser: 'json', printWidth: 120 });
const stale = !existsSync(path) || readFileSync(path, 'utf8') !== fresh;
if (stale && values.check) {
  console.error('config/portico.schema.json is stale: run node tools/config-schema.ts');
  process.exitCode = 1;
} else if (stale) writeFileSync(path, fresh);

import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '..');
const COPIED = ['bin', 'config', 'schemas', 'src', 'tools', 'package.json'];
const PATTERN_PATH = '/services/v2/question.json';

/**
 * A copy of this checkout whose contract has that many operations: Portico reads the contract beside its sources, and no
 * key of the configuration names another one. The added ones are copies of the list of questions under paths of their own.
 */
export function contractCheckout(folder: string, operations: number): string {
  const copy = join(folder, `checkout-${operations}`);
  if (existsSync(copy)) return copy;
  for (const name of COPIED) cpSync(join(ROOT, name), join(copy, name), { recursive: true });
  symlinkSync(join(ROOT, 'node_modules'), join(copy, 'node_modules'));
  const file = join(copy, 'schemas', 'openapi.yaml');
  writeFileSync(file, withOperations(readFileSync(file, 'utf8'), operations));
  const { status, stderr } = spawnSync(process.execPath, [join(copy, 'tools', 'schemas', 'main.ts')], {
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(`the schemas of a contract with ${operations} operations: ${stderr.slice(0, 500)}`);
  return copy;
}

function withOperations(text: string, operations: number): string {
  const start = text.indexOf(`\n  ${PATTERN_PATH}:\n`) + 1;
  const end = start + text.slice(start + 1).search(/\n {2}\/services|\n\S/) + 1;
  const pattern = text.slice(start, end);
  const present = text.match(/^ {6}operationId:/gm)?.length ?? 0;
  const added = Array.from({ length: Math.max(0, operations - present) }, (_, index) => {
    const name = String(index).padStart(4, '0');
    return pattern
      .replace(PATTERN_PATH, `/services/v2/generated/${name}/question.json`)
      .replace('operationId: listQuestions', `operationId: listGenerated${letters(name)}`)
      .replace(/^ {6}x-row: .*\n/m, '');
  });
  return `${text.slice(0, end)}\n${added.join('\n')}${text.slice(end)}`;
}

/** Digits as letters: ids of operations hold nothing else. */
function letters(digits: string): string {
  return digits.replaceAll(/\d/g, (digit) => 'ABCDEFGHIJ'.charAt(Number(digit)));
}

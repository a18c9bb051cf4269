import { copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '..');
const DOCUMENT = 'openapi.yaml';
const COPIED = [DOCUMENT, 'vendor-extensions.schema.json'];
const PATTERN_PATH = '/services/v2/question.json';

/** Returns the number of operations in this checkout's contract. */
export function operationCount(): number {
  return countIn(readFileSync(join(ROOT, 'schemas', DOCUMENT), 'utf8'));
}

/**
 * Creates a folder for `contract.folder` whose contract has the given number of operations. The additional operations
 * are copies of the question list with different paths.
 */
export function contractFolder(folder: string, operations: number): string {
  const own = join(folder, `contract-${operations}`);
  if (existsSync(own)) return own;
  mkdirSync(own);
  for (const name of COPIED) copyFileSync(join(ROOT, 'schemas', name), join(own, name));
  const file = join(own, DOCUMENT);
  writeFileSync(file, withOperations(readFileSync(file, 'utf8'), operations));
  return own;
}

/** Returns the document with enough copies of one path to reach the given number of operations. */
export function withOperations(text: string, operations: number): string {
  const start = text.indexOf(`\n  ${PATTERN_PATH}:\n`) + 1;
  const end = start + text.slice(start + 1).search(/\n {2}\/services|\n\S/) + 1;
  const pattern = text.slice(start, end);
  const added = Array.from({ length: Math.max(0, operations - countIn(text)) }, (_, index) => {
    const name = String(index).padStart(4, '0');
    return pattern
      .replace(PATTERN_PATH, `/services/v2/generated/${name}/question.json`)
      .replace('operationId: listQuestions', `operationId: listGenerated${letters(name)}`)
      .replace(/^ {6}x-row: .*\n/m, '');
  });
  return `${text.slice(0, end)}\n${added.join('\n')}${text.slice(end)}`;
}

function countIn(text: string): number {
  return text.match(/^ {6}operationId:/gm)?.length ?? 0;
}

/** Converts digits to letters, because operation ids contain letters only. */
function letters(digits: string): string {
  return digits.replaceAll(/\d/g, (digit) => 'ABCDEFGHIJ'.charAt(Number(digit)));
}

import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { cpus, totalmem } from 'node:os';
import { join } from 'node:path';
import { grouped, type Proof, type ProofResult } from './proof.ts';

const ROOT = join(import.meta.dirname, '../..');
const PAGE = join(ROOT, 'docs/trust.md');
const BEGIN = '<!-- table: begin -->';
const END = '<!-- table: end -->';

/** A row and its result. Rows that were not run have no result. */
export interface ProvenRow {
  readonly proof: Proof;
  readonly result?: ProofResult | undefined;
}

/** Returns the table in `docs/trust.md`. */
export function tableOf(rows: readonly ProvenRow[]): string {
  return [
    '| row | guarantee | how it is tested | cases | result | figures |',
    '|---|---|---|---|---|---|',
    ...rows.map(({ proof, result }) => {
      const verdict = result === undefined ? 'not run' : result.faults.length === 0 ? 'green' : 'red';
      const cells = [
        `\`${proof.id}\``,
        proof.holds,
        proof.tried,
        result === undefined ? '' : grouped(result.cases),
        verdict,
        result?.figures ?? '',
      ];
      return `| ${cells.map((cell) => cell.replaceAll('|', String.raw`\|`)).join(' | ')} |`;
    }),
  ].join('\n');
}

/** Replaces the page's table and the line that states the commit and machine. */
export function writePage(rows: readonly ProvenRow[], seconds: number): void {
  const text = readFileSync(PAGE, 'utf8');
  const begin = text.indexOf(BEGIN);
  const end = text.indexOf(END);
  if (begin < 0 || end < begin) throw new Error(`${PAGE} does not contain ${BEGIN} and ${END}`);
  const table = `${BEGIN}\n\n${provenance(seconds)}\n\n${tableOf(rows)}\n\n`;
  writeFileSync(PAGE, `${text.slice(0, begin)}${table}${text.slice(end)}`);
}

function provenance(seconds: number): string {
  const commit = spawnSync('git', ['rev-parse', '--short', 'HEAD'], { cwd: ROOT, encoding: 'utf8' }).stdout?.trim();
  const [cpu] = cpus();
  const memory = `${(totalmem() / 2 ** 30).toFixed(0)} GiB`;
  const machine = `${cpus().length} cores (${cpu?.model.trim() ?? 'unknown'}), ${memory}`;
  return `Commit ${commit === undefined || commit === '' ? 'unknown' : commit}; ${machine}; Node ${process.version.slice(1)}; ${(seconds / 60).toFixed(0)} minutes.`;
}

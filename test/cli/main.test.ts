import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { openSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { renderJson } from '../../src/workbench/report/json-report.ts';
import { tempFolder } from '../builders/temp-folder.ts';
import { entryWith, PLAIN, reportOf, snapshotWith } from '../workbench/report/report-fixtures.ts';

const folder = tempFolder();
const launcher = join(import.meta.dirname, '..', '..', 'bin', 'portico.mjs');

/** A report larger than any pipe's buffer. */
const ledger = join(folder, 'large.json');
const entries = Array.from({ length: 1_000 }, (_, at) =>
  entryWith({ fingerprint: `a${String(at).padStart(15, '0')}` }),
);
writeFileSync(ledger, renderJson(reportOf(snapshotWith(entries)), PLAIN));

function run(args: readonly string[], stdout: 'pipe' | number) {
  const child = spawn(process.execPath, [launcher, ...args], { cwd: folder, stdio: ['ignore', stdout, 'pipe'] });
  let err = '';
  child.stderr?.on('data', (part) => (err += String(part)));
  const ended = once(child, 'close').then(([code]) => ({ code: code as number | null, err }));
  return { child, ended };
}

describe('the streams of the process', () => {
  it.each([
    [[], 0],
    [['--fail-on', 'new'], 1],
  ])('do not change the exit code if a reader closes early: %j', async (more, code) => {
    const { child, ended } = run(['report', '--ledger', ledger, '--format', 'json', ...more], 'pipe');
    child.stdout?.once('data', () => child.stdout?.destroy());
    expect((await ended).code).toBe(code);
  });

  it('report a result that cannot be written in one line', async () => {
    const { ended } = run(['--version'], openSync('/dev/full', 'w'));
    expect(await ended).toEqual({ code: 1, err: 'portico: the result cannot be written: the disk is full (ENOSPC)\n' });
  });
});

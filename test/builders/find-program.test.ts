import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { findProgram } from './find-program.ts';

describe('finding a program that tests need', () => {
  const folder = mkdtempSync(join(tmpdir(), 'portico-programs-'));
  afterAll(() => rmSync(folder, { recursive: true }));
  const program = join(folder, 'promtool');
  writeFileSync(program, '#!/bin/sh\n');
  chmodSync(program, 0o755);

  it('looks through the PATH, under every name that it goes by', () => {
    const browser = join(folder, 'chromium-browser');
    writeFileSync(browser, '#!/bin/sh\n');
    chmodSync(browser, 0o755);
    expect(findProgram('promtool', { PATH: `/nowhere::${folder}` })).toEqual({ path: program });
    expect(findProgram('chromium', { PATH: folder })).toEqual({ path: browser });
  });

  it('takes the variable before the PATH', () => {
    const other = join(folder, 'other');
    writeFileSync(other, '#!/bin/sh\n');
    chmodSync(other, 0o755);
    expect(findProgram('promtool', { PATH: folder, PORTICO_PROMTOOL: other })).toEqual({ path: other });
  });

  it('tells how to install what is missing, and that it is required where that was asked for', () => {
    expect(findProgram('promtool', { PATH: '/nowhere' })).toEqual({
      path: undefined,
      advice: 'promtool is missing: apt-get install prometheus, or set PORTICO_PROMTOOL to where it is.',
      required: false,
    });
    expect(findProgram('chromium', { PORTICO_REQUIRE_PROGRAMS: '1' })).toMatchObject({ required: true });
  });

  it('refuses a variable that names no program, and folders and plain files on the PATH', () => {
    const plain = join(folder, 'plain');
    mkdirSync(join(plain, 'chromium'), { recursive: true });
    writeFileSync(join(plain, 'promtool'), '', { mode: 0o644 });
    expect(findProgram('promtool', { PATH: folder, PORTICO_PROMTOOL: '/nowhere/promtool' })).toMatchObject({
      advice: 'PORTICO_PROMTOOL names /nowhere/promtool, which is no program.',
    });
    expect(findProgram('promtool', { PATH: plain }).path).toBeUndefined();
    expect(findProgram('chromium', { PATH: plain }).path).toBeUndefined();
  });
});

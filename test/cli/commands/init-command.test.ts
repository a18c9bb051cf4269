import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { COMMANDS } from '../../../src/cli/commands.ts';
import { runProgram } from '../../../src/cli/run-program.ts';
import { tempFolder } from '../../builders/temp-folder.ts';
import { processIoOf } from '../process-io-of.ts';

async function inFolder(folder: string, ...argv: string[]) {
  const { io, text } = processIoOf(folder);
  return { code: await runProgram(COMMANDS, argv, io), ...text };
}

describe('portico init', () => {
  it('writes a commented configuration that the other commands read', async () => {
    const folder = tempFolder();
    expect(await inFolder(folder, 'init')).toMatchObject({ code: 0, out: expect.stringContaining('Wrote') as string });
    const lines = readFileSync(join(folder, 'portico.yaml'), 'utf8').split('\n');
    expect(lines.every((line) => line === '' || line.startsWith('#'))).toBe(true);
    expect(lines[0]).toBe(
      "# Portico's configuration. Every key is optional. The settings that are commented out show the default or an example.",
    );
    expect(await inFolder(folder, 'check')).toMatchObject({
      code: 0,
      out: expect.stringMatching(/^OK: portico\.yaml, \d+ operations, mode strict$/m) as string,
    });
  });

  it('writes the upstream into the configuration', async () => {
    const folder = tempFolder();
    await inFolder(folder, 'init', '--upstream', 'https://qa.example.org/qa');
    expect(readFileSync(join(folder, 'portico.yaml'), 'utf8')).toContain(
      'upstream:\n  url: "https://qa.example.org/qa"\n#  credentials',
    );
    expect((await inFolder(folder, 'check')).out).toMatch(/^OK: portico\.yaml, \d+ operations, mode observe$/m);
  });

  it.each(['portico.yaml', 'roles.yaml', 'config/portico.yaml'])('writes nothing if %s exists', async (file) => {
    const folder = tempFolder();
    mkdirSync(join(folder, 'config'));
    writeFileSync(join(folder, file), 'mine');
    expect(await inFolder(folder, 'init')).toEqual({
      code: 1,
      out: '',
      err: `portico: ${file} already exists; nothing was written\n`,
    });
    expect(readFileSync(join(folder, file), 'utf8')).toBe('mine');
    const written = ['portico.yaml', 'roles.yaml'].filter((one) => one !== file && existsSync(join(folder, one)));
    expect(written).toEqual([]);
  });

  it('rejects an invalid URL and a folder that does not exist', async () => {
    const folder = tempFolder();
    expect(await inFolder(folder, 'init', '--upstream', 'ftp://x')).toMatchObject({
      code: 2,
      err: expect.stringContaining('--upstream must begin with http:// or https://') as string,
    });
    expect(existsSync(join(folder, 'portico.yaml'))).toBe(false);
    expect(await inFolder(join(folder, 'missing'), 'init')).toMatchObject({
      code: 1,
      err: 'portico: portico.yaml cannot be written (ENOENT)\n',
    });
  });
});

import { cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { PROGRAM } from '../../../src/cli/commands.ts';
import { runProgram } from '../../../src/cli/run-program.ts';
import { packageRoot } from '../../../src/lib/package-root.ts';
import { tempFolder } from '../../builders/temp-folder.ts';
import { processIoOf } from '../process-io-of.ts';

async function inFolder(folder: string, ...argv: string[]) {
  const { io, text } = processIoOf(folder);
  return { code: await runProgram(PROGRAM, argv, io), ...text };
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

  it('writes to the folder that it is given, which is made, and states the next command', async () => {
    const folder = tempFolder();
    mkdirSync(join(folder, 'config'));
    writeFileSync(join(folder, 'config', 'portico.yaml'), 'mode: strict\n');
    const { code, out } = await inFolder(folder, 'init', 'my/gateway', '--upstream', 'https://qa.example.org/qa');
    expect({ code, out }).toEqual({
      code: 0,
      out: 'Wrote my/gateway/portico.yaml and my/gateway/roles.yaml. Next: portico check --config my/gateway/portico.yaml\n',
    });
    expect(await inFolder(folder, 'check', '--config', 'my/gateway/portico.yaml')).toMatchObject({
      code: 0,
      out: expect.stringMatching(/^OK: my\/gateway\/portico\.yaml/) as string,
    });
    expect(await inFolder(folder, 'init', 'my/gateway')).toMatchObject({
      code: 1,
      err: 'portico: my/gateway/portico.yaml already exists; nothing was written\n',
    });
  });

  // The first command of docs/doctor.md, in a folder that has what a checkout has.
  it('does what the documents say in a checkout', async () => {
    const text = readFileSync(join(packageRoot, 'docs', 'doctor.md'), 'utf8');
    const [, argument = ''] = /^npm run -s portico -- init (\S+)$/m.exec(text) ?? [];
    const checkout = tempFolder();
    cpSync(join(packageRoot, 'config'), join(checkout, 'config'), { recursive: true });
    expect(await inFolder(checkout, 'init', argument)).toMatchObject({ code: 0, err: '' });
    const [, named = ''] = /--output (\S+)$/m.exec(text) ?? [];
    expect(existsSync(dirname(join(checkout, named))), 'the folder of the doctor').toBe(true);
    expect(await inFolder(checkout, 'init')).toEqual({
      code: 1,
      out: '',
      err: 'portico: config/portico.yaml already exists, and the commands read it: edit it, or name a folder, as in portico init gateway; nothing was written\n',
    });
  });

  it.each(['portico.yaml', 'roles.yaml'])('writes nothing if %s exists', async (file) => {
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

  it('rejects an invalid URL and a folder that cannot be made', async () => {
    const folder = tempFolder();
    expect(await inFolder(folder, 'init', '--upstream', 'ftp://x')).toMatchObject({
      code: 2,
      err: expect.stringContaining('--upstream must begin with http:// or https://') as string,
    });
    expect(existsSync(join(folder, 'portico.yaml'))).toBe(false);
    writeFileSync(join(folder, 'file'), '');
    expect(await inFolder(folder, 'init', 'file')).toMatchObject({
      code: 1,
      err: expect.stringMatching(
        /^portico: file\/portico\.yaml cannot be written: .*\((?:EEXIST|ENOTDIR)\)\n$/,
      ) as string,
    });
  });
});

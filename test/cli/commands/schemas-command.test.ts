import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { contractFolder } from '../../../src/engine/contract/contract-files.ts';
import { packageRoot } from '../../../src/lib/package-root.ts';
import { tempFolder } from '../../builders/temp-folder.ts';
import { runInProcess } from '../run-in-process.ts';

const schemas = (...argv: string[]) => runInProcess(['schemas', ...argv]);

/** Creates a folder with a contract but without generated files. */
function contractIn(folder: string): string {
  for (const name of ['openapi.yaml', 'vendor-extensions.schema.json'])
    cpSync(join(contractFolder(), name), join(folder, name));
  return folder;
}

const OVERLAY = `overlay: 1.0.0
info: { title: More of an idea, version: 1.0.0 }
actions:
  - target: $.components.schemas.Idea
    update: { properties: { colour: { type: string } } }
`;

/** Creates a configuration with an overlay. */
function overlaid(): string {
  const folder = tempFolder();
  writeFileSync(join(folder, 'colour.yaml'), OVERLAY);
  const roles = { file: join(packageRoot, 'config', 'roles.yaml') };
  const config = join(folder, 'portico.yaml');
  writeFileSync(config, JSON.stringify({ roles, contract: { overlays: ['colour.yaml'] } }));
  return config;
}

const read = (folder: string, name: string): unknown => JSON.parse(readFileSync(join(folder, name), 'utf8'));

describe('portico schemas', () => {
  it('finds that the schemas of the package are up to date', async () => {
    const { code, out } = await schemas('--check');
    expect([code, out.trim()]).toEqual([0, expect.stringMatching(/^\d+ generated files are up to date$/) as string]);
  });

  it('writes the schemas of a contract beside it, and replaces and removes them when it changes', async () => {
    const folder = contractIn(tempFolder());
    const missing = await schemas('--folder', folder, '--check');
    expect([missing.code, missing.out]).toEqual([1, '']);
    expect(missing.err).toMatch(/^missing {6}.*resources\/idea\.schema\.json$/m);
    expect((await schemas('--folder', folder)).out).toMatch(/^(\d+) files: \1 new, 0 changed, 0 removed$/m);
    expect(await schemas('--folder', folder, '--check')).toMatchObject({ code: 0, err: '' });
    expect(read(folder, 'resources/idea.schema.json')).toEqual(read(contractFolder(), 'resources/idea.schema.json'));

    cpSync(join(folder, 'resources/idea.schema.json'), join(folder, 'resources/former.schema.json'));
    writeFileSync(join(folder, 'resources/idea.schema.json'), '{}');
    const changed = await schemas('--folder', folder, '--check');
    expect(changed.code).toBe(1);
    expect(changed.err).toMatch(/^stale {8}.*idea\.schema\.json\nsuperfluous {2}.*former\.schema\.json$/m);
    expect((await schemas('--folder', folder)).out).toContain('0 new, 1 changed, 1 removed');
    expect(existsSync(join(folder, 'resources/former.schema.json'))).toBe(false);
  });

  it('applies the overlays of the configuration, for another folder only', async () => {
    const config = overlaid();
    const output = join(tempFolder(), 'build', 'schemas');
    for (const argv of [[], ['--check']]) {
      const refused = await schemas('--config', config, ...argv);
      expect(refused.code).toBe(2);
      expect(refused.err).toContain('--output is required');
    }
    expect(await schemas('--config', config, '--output', output)).toMatchObject({ code: 0, err: '' });
    expect(await schemas('--config', config, '--output', output, '--check')).toMatchObject({ code: 0 });
    expect(read(output, 'resources/idea.schema.json')).toMatchObject({ properties: { colour: { type: 'string' } } });
    // Without the overlay, the schema differs.
    expect((await schemas('--output', output, '--check')).err).toMatch(/^stale .*resources\/idea\.schema\.json$/m);
  });

  // A user may pass a folder that contains other files, even in subfolders that the command also uses.
  it('leaves all files alone that it has not generated', async () => {
    const output = tempFolder();
    const own = ['resources/notes.schema.json', 'resources/logo.png', 'operations/deploy.sh', 'readme.md'];
    for (const part of ['resources', 'operations']) mkdirSync(join(output, part));
    for (const name of own) writeFileSync(join(output, name), '{ "$comment": "mine" }');
    await schemas('--output', output);
    for (const name of own) expect(readFileSync(join(output, name), 'utf8')).toContain('mine');
    expect(await schemas('--output', output, '--check')).toMatchObject({ code: 0 });
  });

  it('reports all errors of the contract and writes nothing', async () => {
    const folder = contractIn(tempFolder());
    const file = join(folder, 'openapi.yaml');
    writeFileSync(file, readFileSync(file, 'utf8').replaceAll("/schemas/Idea'", "/schemas/Ideal'"));
    const failed = await schemas('--folder', folder);
    expect([failed.code, failed.out]).toEqual([1, '']);
    expect(failed.err).toContain('Ideal');
    expect(readdirSync(folder)).toHaveLength(2);
  });

  it('reports an output folder that cannot be used', async () => {
    const file = join(tempFolder(), 'file');
    writeFileSync(file, '');
    const failed = await schemas('--output', join(file, 'schemas'));
    expect(failed.code).toBe(1);
    expect(failed.err).toContain('cannot be used');
    rmSync(file);
  });

  it.each([[['--chekc']], [['--folder']], [['extra']]])('rejects %j', async (argv) => {
    expect((await schemas(...argv)).code).toBe(2);
  });
});

import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, relative, resolve, sep } from 'node:path';
import { fileReason } from '../../lib/file-reason.ts';
import { packageRoot } from '../../lib/package-root.ts';
import { parseUpstreamUrl } from '../../engine/upstream/upstream-url.ts';
import { CommandFailure, EXIT, UsageError } from '../../lib/command.ts';
import type { ProgramCommand } from '../program.ts';

const FILES = ['portico.yaml', 'roles.yaml'];

/**
 * The `portico init` command writes a commented configuration file and a commented roles file to a folder.
 */
export const initCommand: ProgramCommand = {
  name: 'init',
  summary: 'Write a commented configuration to a folder',
  args: '[FOLDER]',
  argCount: [0, 1],
  flags: [{ name: 'upstream', value: 'URL', help: 'Base URL of the legacy server, to be written to the file.' }],
  notes: [
    'The command writes portico.yaml and roles.yaml to FOLDER, or to the current directory, and never overwrites an',
    'existing file. Without --config, the other commands read config/portico.yaml or else portico.yaml in the current',
    'directory. A checkout has the former, so name a FOLDER there.',
    '',
    'Example: portico init gateway && portico check --config gateway/portico.yaml',
    'Example: portico init --upstream https://qa.example.org/qa && portico check',
  ],
  run: async (line, { cwd, out }) => {
    const url = line.last('upstream');
    if (url !== undefined) {
      const parsed = parseUpstreamUrl(url, { source: '--upstream', pointer: '' });
      if ('faults' in parsed) throw new UsageError(`--upstream ${parsed.faults[0]?.message ?? ''}`);
    }
    const [named] = line.args;
    const folder = resolve(cwd, named ?? '.');
    const shown = (file: string) => (named === undefined ? file : join(named, file));
    const existing = FILES.find((file) => existsSync(join(folder, file)));
    if (existing !== undefined) throw new CommandFailure(`${shown(existing)} already exists; nothing was written`);
    // Without --config, the commands would read this file instead of the new one.
    const other = join('config', 'portico.yaml');
    if (named === undefined && existsSync(join(folder, other)))
      throw new CommandFailure(
        `${other} already exists, and the commands read it: edit it, or name a folder, as in portico init gateway; nothing was written`,
      );
    for (const file of FILES) write(folder, file, shown(file), templateOf(file, folder, url));
    const next = named === undefined ? 'portico check' : `portico check --config ${shown('portico.yaml')}`;
    out(`Wrote ${FILES.map(shown).join(' and ')}. Next: ${next}`);
    return Promise.resolve(EXIT.ok);
  },
};

/** Returns the text for a new file, based on the file with the same name in the package. */
function templateOf(file: string, folder: string, url: string | undefined): string {
  const [first = '', ...rest] = readFileSync(join(packageRoot, 'config', file), 'utf8').split('\n');
  const schema = relative(folder, join(packageRoot, 'config', file.replace('.yaml', '.schema.json')));
  // A relative path that leads outside the folder is omitted, because it would be wrong on other machines.
  const head = schema.startsWith('..') ? [] : [first.replace(/=.*/, `=${schema.split(sep).join('/')}`)];
  const text = [...head, ...rest].join('\n').replace(/^#\n/, '');
  if (url === undefined || file !== 'portico.yaml') return text;
  return text.replace(/^#upstream:\n#  url: .*$/m, () => `upstream:\n  url: ${JSON.stringify(url)}`);
}

function write(folder: string, file: string, shown: string, text: string): void {
  try {
    mkdirSync(folder, { recursive: true });
    // The `wx` flag prevents the command from overwriting a file that another process has just created.
    writeFileSync(join(folder, file), text, { flag: 'wx' });
  } catch (error) {
    throw new CommandFailure(`${shown} cannot be written: ${fileReason(error)}`);
  }
}

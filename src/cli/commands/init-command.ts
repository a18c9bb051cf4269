import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { packageRoot } from '../../files/package-root.ts';
import { parseUpstreamUrl } from '../../upstream/upstream-url.ts';
import { type Command, CommandFailure, EXIT, UsageError } from '../command.ts';

const FILES = ['portico.yaml', 'roles.yaml'];

/**
 * The `portico init` command writes a commented configuration file and a commented roles file to the current directory.
 */
export const initCommand: Command = {
  name: 'init',
  summary: 'Write a commented configuration to the current directory',
  args: '',
  argCount: [0, 0],
  flags: [{ name: 'upstream', value: 'URL', help: 'Base URL of the legacy server, to be written to the file.' }],
  notes: [
    'The command writes portico.yaml and roles.yaml, and never overwrites an existing file.',
    'If there is no config/portico.yaml, the other commands read portico.yaml from the current directory.',
    '',
    'Example: portico init --upstream https://qa.example.org/qa && portico check',
  ],
  run: async (line, { cwd, out }) => {
    const url = line.last('upstream');
    if (url !== undefined) {
      const parsed = parseUpstreamUrl(url, { source: '--upstream', pointer: '' });
      if ('faults' in parsed) throw new UsageError(`--upstream ${parsed.faults[0]?.message ?? ''}`);
    }
    const existing = [...FILES, join('config', 'portico.yaml')].find((file) => existsSync(join(cwd, file)));
    if (existing !== undefined) throw new CommandFailure(`${existing} already exists; nothing was written`);
    for (const file of FILES) write(cwd, file, templateOf(file, cwd, url));
    out('Wrote portico.yaml and roles.yaml. Next: portico check');
    return Promise.resolve(EXIT.ok);
  },
};

/** Returns the text for a new file, based on the file with the same name in the package. */
function templateOf(file: string, cwd: string, url: string | undefined): string {
  const [first = '', ...rest] = readFileSync(join(packageRoot, 'config', file), 'utf8').split('\n');
  const schema = relative(cwd, join(packageRoot, 'config', file.replace('.yaml', '.schema.json')));
  // A relative path that leads outside the folder is omitted, because it would be wrong on other machines.
  const head = schema.startsWith('..') ? [] : [first.replace(/=.*/, `=${schema.split(sep).join('/')}`)];
  const text = [...head, ...rest].join('\n').replace(/^#\n/, '');
  if (url === undefined || file !== 'portico.yaml') return text;
  return text.replace(/^#upstream:\n#  url: .*$/m, () => `upstream:\n  url: ${JSON.stringify(url)}`);
}

function write(cwd: string, file: string, text: string): void {
  try {
    // The `wx` flag prevents the command from overwriting a file that another process has just created.
    writeFileSync(join(cwd, file), text, { flag: 'wx' });
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown reason';
    throw new CommandFailure(`${file} cannot be written (${code})`);
  }
}

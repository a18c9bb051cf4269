import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { COMMANDS } from '../../../src/cli/commands.ts';
import { REPORT_FORMATS } from '../../../src/workbench/report/formats.ts';
import { tempFolder } from '../../builders/temp-folder.ts';
import { runInProcess } from '../run-in-process.ts';

const scriptOf = async (shell: string) => (await runInProcess(['completion', shell])).out;
const commands = await Promise.all(COMMANDS.map((entry) => entry.load()));

/** Returns the completions that a real bash shell suggests for the last word of a command line. */
async function offered(...words: string[]): Promise<string[]> {
  const folder = tempFolder();
  writeFileSync(join(folder, 'completion.sh'), await scriptOf('bash'));
  writeFileSync(join(folder, 'my file.yaml'), '');
  const script = `set -eu
source ./completion.sh
complete -p portico >/dev/null
COMP_WORDS=("$@"); COMP_CWORD=$(( $# - 1 ))
_portico
printf '%s\\n' "\${COMPREPLY[@]}"`;
  const args = ['--norc', '-c', script, 'bash', 'portico', ...words];
  return execFileSync('bash', args, { cwd: folder, encoding: 'utf8' })
    .split('\n')
    .filter((line) => line !== '');
}

describe('the completion in bash', () => {
  it('offers every command', async () => {
    expect(await offered('')).toEqual([...COMMANDS.map(({ name }) => name), 'help', '--help', '--version']);
    expect(await offered('per')).toEqual(['permissions']);
  });

  it.each(commands.map((command) => ({ command, name: command.name })))(
    'offers every flag of $name',
    async ({ command }) => {
      expect(await offered(command.name, '--')).toEqual([...command.flags.map(({ name }) => `--${name}`), '--help']);
    },
  );

  it('offers the values of a flag or of an argument', async () => {
    expect(await offered('serve', '--mode', 'st')).toEqual(['staging', 'strict']);
    const formats = [...REPORT_FORMATS.keys()];
    expect(await offered('report', '--format', 'j')).toEqual(formats.filter((format) => format.startsWith('j')));
    expect(await offered('completion', '')).toEqual(expect.arrayContaining(['bash', 'zsh', 'fish']));
    expect(await offered('help', 'lad')).toEqual(['ladder']);
  });

  it('offers files for a flag with a file, also with a space, and nothing for other values', async () => {
    expect(await offered('serve', '--config', 'my')).toEqual(['my file.yaml']);
    expect(await offered('check', '--user', '')).toEqual([]);
  });
});

describe.each(['bash', 'zsh', 'fish'])('the completion script for %s', (shell) => {
  it('contains every command and every flag', async () => {
    const text = await scriptOf(shell);
    for (const { name, flags } of commands) {
      expect(text).toContain(name);
      for (const flag of flags) expect(text).toContain(shell === 'fish' ? `-l ${flag.name}` : `--${flag.name}`);
    }
  });
});

describe('portico completion', () => {
  it('rejects an unknown shell with exit code 2', async () => {
    const { code, out, err } = await runInProcess(['completion', 'bsh']);
    expect([code, out]).toEqual([2, '']);
    expect(err).toContain('"bsh" must be one of bash, zsh, fish; did you mean bash?');
  });
});

import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { COMMANDS } from '../src/cli/commands.ts';
import { MODE_NAMES, MODES } from '../src/model/checks.ts';
import { runInProcess } from './cli/run-in-process.ts';
import { readText, ROOT, sectionOf, tableBy } from './readme/tables.ts';

const run = promisify(execFile);
const readme = readText('README.md');
const PROGRAM = 'npm run -s portico -- ';

/** Runs the program as a checkout does, with no configuration but the repository's own. */
const portico = (...args: readonly string[]) =>
  run(process.execPath, [join(ROOT, 'bin', 'portico.mjs'), ...args], {
    cwd: ROOT,
    env: { PATH: process.env['PATH'] },
  });

/** The arguments of every command line of the program in the README's shell blocks. */
function shownCommands(): string[][] {
  const blocks = [...readme.matchAll(/```sh\n(.*?)```/gs)].map((match) => match[1] ?? '');
  const lines = blocks.flatMap((block) => block.split('\n')).filter((line) => line.startsWith(PROGRAM));
  return lines.map((line) => {
    const words = line.slice(PROGRAM.length).replace(/\s+#.*$/, '');
    return [...words.matchAll(/'([^']*)'|(\S+)/g)].map((match) => match[1] ?? match[2] ?? '');
  });
}

describe('the commands that the README shows', () => {
  it('are there to be tried', () => {
    expect(shownCommands().map(([name]) => name)).toEqual(expect.arrayContaining(['permissions', 'explain']));
  });

  it.each(shownCommands().map((words) => ({ words, name: words.join(' ') })))('work: $name', async ({ words }) => {
    const { stdout, stderr } = await portico(...words);
    expect(stdout).not.toBe('');
    expect(stderr).toBe('');
  });

  it('are those that the program has', () => {
    const documented = tableBy(sectionOf(readme, 'Commands'), 'command').map((row) => row['command']);
    expect(documented).toEqual(COMMANDS.map((command) => command.name));
  });

  it.each(COMMANDS.map((command) => command.name))('have help: %s', async (name) => {
    const { code, out } = await runInProcess([name, '--help']);
    expect({ code, out }).toEqual({ code: 0, out: expect.stringContaining(`Usage: portico ${name}`) as string });
  });

  it('find nothing wrong with the configuration of the repository', async () => {
    const { stdout } = await portico('check');
    expect(stdout).toMatch(/^OK: config\/portico\.yaml, \d+ operations, mode strict$/m);
  });
});

describe('the two commands of the set-up', () => {
  it.each(['npm ci && npm start', 'npm ci && npm test'])('are shown alone in a block: %s', (command) => {
    expect(readme).toContain(`\`\`\`sh\n${command}\n\`\`\``);
  });

  it('are scripts of the package, and CI runs the second one', () => {
    const { scripts } = JSON.parse(readText('package.json')) as { scripts: Record<string, string> };
    expect(Object.keys(scripts)).toEqual(expect.arrayContaining(['start', 'test']));
    expect(readText('.ci/run')).toContain('npm ci && npm test');
  });
});

describe("the README's table of modes", () => {
  const rows = tableBy(sectionOf(readme, 'Modes'), 'check or behaviour');

  it.each(MODE_NAMES)('says of every check and behaviour what the preset says: %s', (mode) => {
    const { checks, errors, cache } = MODES[mode];
    const documented = Object.fromEntries(rows.map((row) => [row['check or behaviour'] ?? '', row[mode]]));
    expect(documented).toEqual({ ...checks, errors, cache: cache ? 'on' : 'off' });
  });
});

describe('the drawing of a request', () => {
  const section = sectionOf(readme, 'The path of a request');

  it('names every stage that there is, in the order of the program', () => {
    const order = readText('src/pipeline/order.ts');
    const files = [...order.matchAll(/'\.\/stages\/([a-z-]+)\.ts'/g)].map((match) => match[1] ?? '');
    const factories = [...order.matchAll(/^ {4}(\w+)\(/gm)].map((match) => match[1] ?? '');
    const stages = factories.map((name) => name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`));
    expect(stages.toSorted()).toEqual(files.toSorted());
    const drawn = [...(section.split('▼\n')[1] ?? '').matchAll(/^ ([a-z-]+) {2,}/gm)].map((match) => match[1]);
    expect(drawn).toEqual(stages);
  });

  it('quotes lines that the program prints', async () => {
    const quoted = section.split('\n').filter((line) => line.includes(' → '));
    const { stdout } = await portico('plan');
    expect(quoted.length).toBeGreaterThan(0);
    expect(stdout.split('\n')).toEqual(expect.arrayContaining(quoted));
  });
});

describe('the links of the README', () => {
  it('lead to files of the repository', () => {
    const targets = [...readme.matchAll(/\]\((?!https?:)([^)#]+)\)/g)].map((match) => match[1] ?? '');
    expect(targets.filter((target) => !existsSync(join(ROOT, target)))).toEqual([]);
  });
});

import { describe, expect, it } from 'vitest';
import { COMMANDS, PROGRAM } from '../src/cli/commands.ts';
import { runProgram } from '../src/cli/run-program.ts';
import { MODE_NAMES, type ModeName, MODES } from '../src/engine/model/modes.ts';
import { compileUndocumentedPolicy } from '../src/engine/pipeline/undocumented/policy.ts';
import { writeEveryStage } from './builders/every-stage.ts';
import { processIoOf } from './cli/process-io-of.ts';
import { readText, ROOT, sectionOf, tableBy } from './readme/tables.ts';

const readme = readText('README.md');
/** The pages whose shell blocks contain only commands that exit on their own. */
const PAGES = ['README.md', 'docs/roles.md'];
const SHOWN = 'npm run -s portico -- ';

/** Runs a command in the repository root, with only the repository's own configuration, and returns its output. */
async function portico(...args: readonly string[]): Promise<string> {
  const { io, text } = processIoOf(ROOT);
  expect(await runProgram(PROGRAM, args, io)).toBe(0);
  return text.out;
}

/** Returns the arguments of each `portico` command in the pages' shell blocks. */
function shownCommands(): string[][] {
  const blocks = [
    ...PAGES.map(readText)
      .join('\n')
      .matchAll(/```sh\n(.*?)```/gs),
  ].map((match) => match[1] ?? '');
  const lines = blocks.flatMap((block) => block.split('\n')).filter((line) => line.startsWith(SHOWN));
  return lines.map((line) => {
    const words = line.slice(SHOWN.length).replace(/\s+#.*$/, '');
    return [...words.matchAll(/'([^']*)'|(\S+)/g)].map((match) => match[1] ?? match[2] ?? '');
  });
}

describe('the commands of the documentation', () => {
  it('include some that can be run', () => {
    expect(shownCommands().map(([name]) => name)).toEqual(expect.arrayContaining(['permissions', 'explain']));
  });

  it.each(shownCommands().map((words) => ({ words, name: words.join(' ') })))('work: $name', async ({ words }) => {
    const { io, text } = processIoOf(ROOT);
    expect(await runProgram(PROGRAM, words, io)).toBe(0);
    expect(text).toEqual({ out: expect.stringMatching(/./) as string, err: '' });
  });

  it('are exactly those that the README lists', () => {
    const documented = tableBy(sectionOf(readme, 'Commands'), 'command').map((row) => row['command']);
    expect(documented).toEqual(COMMANDS.map((command) => command.name));
  });

  it('accept the configuration of the repository', async () => {
    expect(await portico('check')).toMatch(/^OK: config\/portico\.yaml, \d+ operations, mode strict$/m);
  });
});

describe('the two setup commands', () => {
  it.each(['npm ci && npm start', 'npm ci && npm test'])('are the only ones in their block: %s', (command) => {
    expect(readme).toContain(`\`\`\`sh\n${command}\n\`\`\``);
  });

  it('are package scripts, and CI runs the second one', () => {
    const { scripts } = JSON.parse(readText('package.json')) as { scripts: Record<string, string> };
    expect(Object.keys(scripts)).toEqual(expect.arrayContaining(['start', 'test']));
    expect(readText('.ci/run')).toContain('npm ci && npm test');
  });
});

/** Returns whether a mode refuses a write to an undocumented path that no entry lists, even if the check is off. */
const refusesWrites = (mode: ModeName) =>
  !compileUndocumentedPolicy(
    '/services/v2/',
    'off',
    MODES[mode].transparent,
    [],
  )('POST', '/services/v2/other.json', undefined).pass;

describe("the README's table of modes", () => {
  const rows = tableBy(sectionOf(readme, 'Modes'), 'check or behavior');

  it.each(MODE_NAMES)('agrees with the preset %s', (mode) => {
    const { checks, errors, cache } = MODES[mode];
    const documented = Object.fromEntries(rows.map((row) => [row['check or behavior'] ?? '', row[mode]]));
    const refused = refusesWrites(mode) && checks.undocumented !== 'enforce';
    const undocumented = `${checks.undocumented}${refused ? '; writes always need an entry' : ''}`;
    expect(documented).toEqual({ ...checks, undocumented, errors, cache: cache ? 'on' : 'off' });
  });

  it.each([
    ['README.md', /Outside `observe`, an undocumented request with an unsafe method.* is refused at every level of/],
    ['docs/configuration.md', /^\| `checks\.undocumented` .*always need an entry in `undocumented\.allow`/m],
    ['docs/rules.md', /## 1\. .*exception to the levels: outside `observe` mode.*`undocumented\.allow`.*## 2\. /s],
  ])('states in %s that outside observe mode undocumented writes are refused at every level', (page, statement) => {
    expect(MODE_NAMES.filter(refusesWrites)).toEqual(MODE_NAMES.filter((mode) => mode !== 'observe'));
    const text = readText(page);
    expect(
      page.endsWith('rules.md') ? text.replaceAll(/\n {2}/g, ' ') : text.replaceAll(/(?<=\w)\n(?=\w)/g, ' '),
    ).toMatch(statement);
  });
});

describe('the diagram of a request', () => {
  const section = sectionOf(readme, 'The path of a request');

  it("shows every stage, in the program's order", async () => {
    // Rehearsals exist only in observe mode, where other stages are missing.
    const observing = writeEveryStage({ mode: 'observe', rewriteUrls: false, rehearsal: { share: 1 } });
    const configs = [writeEveryStage(), observing];
    const out = (await Promise.all(configs.map((file) => portico('plan', '--config', file)))).join('\n');
    const plans = [...out.matchAll(/\.json {3}(.+)$/gm)].map((match) => {
      // Each line contains the plan, followed by any override in brackets.
      return (match[1] ?? '').replace(/ {3}\[.*$/, '').split(' → ');
    });
    const shown = [...(section.split('▼\n')[1] ?? '').matchAll(/^ ([a-z-]+) {2,}/gm)].map((match) => match[1] ?? '');
    expect(shown.toSorted()).toEqual([...new Set(plans.flat())].toSorted());
    for (const plan of plans) expect(plan).toEqual(shown.filter((stage) => plan.includes(stage)));
  });

  it('has the same stages as the table in docs/architecture.md, in the same order', () => {
    const shown = [...(section.split('▼\n')[1] ?? '').matchAll(/^ ([a-z-]+) {2,}/gm)].map((match) => match[1]);
    const table = tableBy(sectionOf(readText('docs/architecture.md'), 'Stages'), 'stage');
    expect(table.map(({ stage }) => stage)).toEqual(shown);
  });

  it('quotes lines that the program prints', async () => {
    const quoted = section.split('\n').filter((line) => line.includes(' → '));
    const out = await portico('plan');
    expect(quoted.length).toBeGreaterThan(0);
    expect(out.split('\n')).toEqual(expect.arrayContaining(quoted));
  });
});

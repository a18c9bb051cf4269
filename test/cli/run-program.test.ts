import { createServer } from 'node:net';
import { describe, expect, it } from 'vitest';
import { COMMANDS } from '../../src/cli/commands.ts';
import { failureLines } from '../../src/cli/run-program.ts';
import { StartFault } from '../../src/model/fault.ts';
import { runInProcess } from './run-in-process.ts';

describe.each(COMMANDS)('portico $name --help', ({ name, load }) => {
  it('shows usage and every flag, runs nothing and exits 0', async () => {
    const { name: own, flags } = await load();
    expect(own).toBe(name);
    const { code, out, err } = await runInProcess([name, '--help']);
    expect([code, err]).toEqual([0, '']);
    expect(out).toContain(`Usage: portico ${name}`);
    for (const flag of flags) expect(out).toContain(`--${flag.name}`);
  });
});

describe('a command line that makes no sense', () => {
  it.each([
    ['an unknown command', ['sevre'], 'did you mean serve?'],
    ['an unknown flag', ['serve', '--prot', '1'], 'did you mean --port?'],
    ['an unknown short flag', ['serve', '-x'], 'does not know -x'],
    ['no target', ['explain'], 'needs [METHOD] TARGET'],
    ['a target that is no path', ['explain', 'GET', 'question.json'], 'begins with a slash'],
    ['a method that is none', ['explain', 'PUTT', '/x'], 'did you mean PUT?'],
    ['three words', ['explain', 'GET', '/x', 'y'], 'does not take "y"'],
    ['an address with a password', ['check', 'https://al:s3cret@qa.example/x'], 'does not take "https://qa.example/x"'],
    ['a flag without its value', ['explain', '/x', '--as'], '--as needs a value'],
    ['a flag where the value should be', ['explain', '/x', '--as', '--config', 'y'], '--as needs a value'],
    ['a flag given twice', ['explain', '/x', '--as', 'a', '--as', 'b'], '--as was given twice'],
    ['a port that is none', ['reference', '--port', '99999'], '--port must be a whole number'],
    ['a base path with a slash at its end', ['reference', '--base-path', '/qa/'], '--base-path must look like /qa'],
  ])('is told for %s, with exit code 2 and nothing on standard output', async (_what, argv, hint) => {
    const { code, out, err } = await runInProcess(argv);
    expect([code, out]).toEqual([2, '']);
    expect(err).toContain(hint);
  });
});

describe('failure lines', () => {
  const listenError = (options: { host: string; port: number }) =>
    new Promise<Error>((resolve) => createServer().once('error', resolve).listen(options));

  it('faults are one block with source, pointer, message and suggestion', () => {
    const lines = failureLines(
      new StartFault([
        { source: 'config/portico.yaml:2', pointer: '/mod', message: 'is not a key', suggestion: 'did you mean mode?' },
        { source: 'PORT', pointer: '', message: 'must be a whole number' },
      ]),
    );
    expect(lines).toEqual([
      'portico cannot start: 2 faults',
      '  config/portico.yaml:2 /mod',
      '    is not a key (did you mean mode?)',
      '  PORT',
      '    must be a whole number',
    ]);
  });

  it('an address that this machine does not have is told in one line', async () => {
    const lines = failureLines(await listenError({ host: '192.0.2.1', port: 0 }));
    expect(lines).toEqual([expect.stringContaining('this machine has no such address (HOST, ADMIN_HOST)')]);
  });

  it('anything unexpected keeps its stack', () => {
    expect(failureLines(new TypeError('boom'))[0]).toMatch(/^portico failed: TypeError: boom\n +at /);
  });
});

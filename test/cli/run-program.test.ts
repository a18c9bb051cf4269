import { createServer } from 'node:net';
import { describe, expect, it } from 'vitest';
import { COMMANDS } from '../../src/cli/commands.ts';
import { failureLines } from '../../src/cli/run-program.ts';
import { StartFault } from '../../src/engine/model/fault.ts';
import { runInProcess } from './run-in-process.ts';

describe.each(COMMANDS)('portico $name --help', ({ name, load }) => {
  it('shows usage and all flags, runs nothing and exits with 0', async () => {
    const { name: own, flags } = await load();
    expect(own).toBe(name);
    const { code, out, err } = await runInProcess([name, '--help']);
    expect([code, err]).toEqual([0, '']);
    expect(out).toContain(`Usage: portico ${name}`);
    for (const flag of flags) expect(out).toContain(`--${flag.name}`);
  });
});

describe.each(COMMANDS)('portico help $name', ({ name }) => {
  it('shows the same help as --help', async () => {
    const { code, out, err } = await runInProcess(['help', name]);
    expect([code, out, err]).toEqual([0, (await runInProcess([name, '--help'])).out, '']);
  });
});

describe('an invalid command line', () => {
  it.each([
    ['an unknown command', ['sevre'], 'did you mean serve?'],
    ['help for an unknown command', ['help', 'sevre'], 'did you mean serve?'],
    ['help for two commands', ['help', 'serve', 'plan'], 'help requires one command'],
    ['an unknown flag', ['serve', '--prot', '1'], 'did you mean --port?'],
    ['an unknown short flag', ['serve', '-x'], 'unknown flag -x'],
    ['no target', ['explain'], 'requires [METHOD] TARGET'],
    ['a target that is not a path', ['explain', 'GET', 'question.json'], 'must start with a slash'],
    ['an invalid method', ['explain', 'PUTT', '/x'], 'did you mean PUT?'],
    ['three arguments', ['explain', 'GET', '/x', 'y'], 'unexpected argument "y"'],
    [
      'a URL with a password',
      ['check', 'https://al:s3cret@qa.example/x'],
      'unexpected argument "https://qa.example/x"',
    ],
    ['a flag without its value', ['explain', '/x', '--as'], '--as requires a value'],
    ['a flag in place of a value', ['explain', '/x', '--as', '--config', 'y'], '--as requires a value'],
    ['a repeated flag', ['explain', '/x', '--as', 'a', '--as', 'b'], '--as may be used only once'],
    ['an invalid port', ['reference', '--port', '99999'], '--port must be a whole number'],
    ['a base path with a trailing slash', ['reference', '--base-path', '/qa/'], '--base-path must be a path such as'],
  ])('is rejected for %s with exit code 2 and no standard output', async (_what, argv, hint) => {
    const { code, out, err } = await runInProcess(argv);
    expect([code, out]).toEqual([2, '']);
    expect(err).toContain(hint);
  });
});

describe('failure lines', () => {
  const listenError = (options: { host: string; port: number }) =>
    new Promise<Error>((resolve) => createServer().once('error', resolve).listen(options));

  it('list configuration errors with source, pointer, message and suggestion', () => {
    const lines = failureLines(
      new StartFault([
        { source: 'config/portico.yaml:2', pointer: '/mod', message: 'is not a key', suggestion: 'did you mean mode?' },
        { source: 'PORT', pointer: '', message: 'must be a whole number' },
      ]),
    );
    expect(lines).toEqual([
      'portico cannot start: 2 configuration errors',
      '  config/portico.yaml:2 /mod',
      '    is not a key (did you mean mode?)',
      '  PORT',
      '    must be a whole number',
    ]);
  });

  it('do not say that the gateway cannot start if the error is in the input of another command', () => {
    const missing = new StartFault([{ source: '--from', pointer: '', message: 'a.har does not exist' }]);
    for (const command of ['compare', 'check', 'report'])
      expect(failureLines(missing, {}, command)[0]).toBe(`portico ${command}: 1 error`);
    const wrong = new StartFault([{ source: 'portico.yaml:1', pointer: '/mod', message: 'is not a key' }]);
    for (const command of ['serve', 'reference', 'check'])
      expect(failureLines(wrong, {}, command)[0]).toBe('portico cannot start: 1 configuration error');
  });

  it('describe an address that this machine does not have in one line', async () => {
    const lines = failureLines(await listenError({ host: '192.0.2.1', port: 0 }));
    expect(lines).toEqual([expect.stringContaining('not an address of this machine (HOST, ADMIN_HOST)')]);
  });

  it('say that an unexpected error is a fault of Portico, and show its stack trace only on request', () => {
    const [plain = ''] = failureLines(new TypeError('boom'));
    expect(plain).toMatch(/^portico failed because of an error in Portico itself: .*NODE_DEBUG=portico/);
    expect(plain).not.toMatch(/TypeError|boom/);
    expect(failureLines('boom')).toEqual([plain]);
    const [full] = failureLines(new TypeError('boom'), { NODE_DEBUG: 'portico' });
    expect(full).toMatch(/^portico failed: TypeError: boom\n +at /);
  });

  it('describe a failed system call in words', () => {
    const error = Object.assign(new Error('EACCES: permission denied, open'), {
      code: 'EACCES',
      syscall: 'open',
      path: '/etc/x',
    });
    expect(failureLines(error)).toEqual(['portico failed: /etc/x: you have no permission (EACCES)']);
  });
});

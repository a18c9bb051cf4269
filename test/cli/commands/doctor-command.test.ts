import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { freePort } from '../../../bench/free-port.ts';
import { PROGRAM } from '../../../src/cli/commands.ts';
import { runProgram } from '../../../src/cli/run-program.ts';
import { startReferenceServer } from '../../../src/reference/start-reference-server.ts';
import { cleanUpAfterFile } from '../../builders/clean-up.ts';
import { startFakeUpstream } from '../../builders/fake-upstream.ts';
import { SAFE_OPERATIONS } from '../../builders/operations.ts';
import { tempFolder } from '../../builders/temp-folder.ts';
import { healthy } from '../../workbench/doctor/probe-setting.ts';
import { processIoOf } from '../process-io-of.ts';

const reference = await startReferenceServer({ basePath: '/qa' });
cleanUpAfterFile(() => reference.close());

async function portico(folder: string, argv: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const { io, text } = processIoOf(folder, { env });
  return { code: await runProgram(PROGRAM, argv, io), ...text };
}

const QUICK = ['--yes', '--idle', '1', '--delay', '0', '--concurrency-max', '2'];

describe('portico doctor', () => {
  it('ends in a configuration that portico check accepts without a warning', async () => {
    const folder = tempFolder();
    await portico(folder, ['init']);
    writeFileSync(join(folder, 'taken.yaml'), 'text of the user');
    const doctor = (output: string) =>
      portico(folder, ['doctor', reference.url, ...QUICK, '--user', 'admin', '--output', output], {
        PORTICO_PASSWORD: 'admin',
      });
    const [ran, refused] = [await doctor('found.yaml'), await doctor('taken.yaml')];
    expect(ran.code).toBe(0);
    const checked = await portico(folder, ['check', '--config', 'found.yaml']);
    expect(checked).toEqual({ code: 0, out: expect.stringMatching(/^OK: found\.yaml/) as string, err: '' });
    const text = readFileSync(join(folder, 'found.yaml'), 'utf8');
    expect(parse(text)).toMatchObject({ mode: 'observe', upstream: { url: reference.url, concurrency: 2 } });
    expect(ran.out).toContain(text.trim());
    // The reason for each recommended key is in a comment above it.
    for (const line of text.split('\n').filter((one) => /: \S/.test(one) && !one.includes('#')))
      expect(text).toMatch(new RegExp(`# .*\\n${line.replaceAll(/[[\]{}.*+?^$|()\\]/g, String.raw`\$&`)}`));
    expect(refused).toMatchObject({ code: 1, err: expect.stringContaining('taken.yaml already exists') as string });
    expect(readFileSync(join(folder, 'taken.yaml'), 'utf8'), 'existing files are never overwritten').toBe(
      'text of the user',
    );
  });

  it('shows its plan and sends nothing without --yes if nobody can be asked', async () => {
    const server = await startFakeUpstream(healthy);
    const { code, err } = await portico('/', ['doctor', server.url]);
    const [plan = ''] = err.split('\n');
    const most = Number(/at most (\d+) requests/.exec(plan)?.[1]);
    expect({ code, plan }).toEqual({
      code: 2,
      plan: `Plan for ${server.url}: at most ${most} requests, all of them GET or HEAD, 50 ms apart`,
    });
    expect(most).toBeGreaterThan(SAFE_OPERATIONS.length);
    expect(err).toContain('add --yes to start without a question');
    expect(server.requests).toEqual([]);
  });

  it.each([
    ['taken.yaml', 'taken.yaml already exists: choose another name'],
    ['folder', 'folder is a folder: add the name of a file'],
    ['missing/found.yaml', 'missing/found.yaml cannot be written: there is no folder'],
    ['taken.yaml/found.yaml', 'taken.yaml/found.yaml cannot be written: there is no folder'],
  ])('refuses the output %s before it shows its plan or sends anything', async (output, message) => {
    const server = await startFakeUpstream(healthy);
    const folder = tempFolder();
    mkdirSync(join(folder, 'folder'));
    writeFileSync(join(folder, 'taken.yaml'), 'text of the user');
    const { code, out, err } = await portico(folder, ['doctor', server.url, ...QUICK, '--output', output]);
    expect({ code, out }).toEqual({ code: 1, out: '' });
    expect(err).toContain(message);
    expect(err).not.toContain('Plan for');
    expect(server.requests).toEqual([]);
  });

  it.each([401, 403, 302])(
    'says that the password is wrong, after at most two tries, if it gets %d',
    async (status) => {
      const server = await startFakeUpstream(async (request, response) => {
        const usual = await healthy(request, response);
        return usual?.status === 401 && request.headers.authorization !== undefined
          ? { ...usual, status, headers: { ...usual.headers, Location: '/login' } }
          : usual;
      });
      const { code, out, err } = await portico('/', ['doctor', server.url, ...QUICK, '--user', 'checker'], {
        PORTICO_PASSWORD: 'wrong horse',
      });
      expect({ code, out }).toEqual({ code: 1, out: '' });
      expect(err).toContain(`the server refuses your user name and password (${status} from /services/v2/`);
      expect(err).toContain('check --user and the password');
      expect(err).not.toMatch(/made-up credential cannot|wrong horse/);
      const tries = server.requests.filter(({ headers }) => headers.authorization !== undefined);
      expect(tries).toHaveLength(status === 401 ? 1 : 2);
    },
  );

  // Realms, headers and errors come from the server and may even contain the credential.
  it('never shows the password, nor control characters from the server', async () => {
    const server = await startFakeUpstream(async (request, response) => {
      const usual = await healthy(request, response);
      return { ...usual, headers: { ...usual?.headers, 'WWW-Authenticate': 'Basic realm="\u009b31m"' } };
    });
    const folder = tempFolder();
    writeFileSync(join(folder, 'password'), 'correct horse\n');
    chmodSync(join(folder, 'password'), 0o600);
    const { code, out, err } = await portico(folder, [
      'doctor',
      server.url,
      ...QUICK,
      '--user',
      'checker',
      '--password-file',
      'password',
    ]);
    expect(code).toBe(0);
    expect(out + err).not.toMatch(/correct horse|Y2hlY2tlcjpjb3JyZWN0/);
    // oxlint-disable-next-line no-control-regex -- the pattern matches control characters on purpose
    expect(out + err).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/);
    expect(out).toContain(String.raw`realm="\u009b31m"`);
  });

  it('exits with 1 and one sentence if the server is away', async () => {
    const url = `http://127.0.0.1:${await freePort()}`;
    const { code, out, err } = await portico('/', ['doctor', url, ...QUICK]);
    expect({ code, out }).toEqual({ code: 1, out: '' });
    expect(err).toContain(`portico: ${url} cannot be examined: the server does not accept connections`);
  });

  it('clears its progress on a terminal before it shows an error', async () => {
    const url = `http://127.0.0.1:${await freePort()}`;
    const { io } = processIoOf('/', {});
    const live: string[] = [];
    await runProgram(PROGRAM, ['doctor', url, ...QUICK], { ...io, live: (text) => void live.push(text) });
    expect(live).toEqual(['… address', '']);
  });

  it.each([
    [['doctor', 'qa.example.org', '--yes'], 'the URL is not an absolute URL'],
    [['doctor', 'http://me:secret@qa.example.org', '--yes'], 'the URL must not contain credentials'],
    [['doctor', 'http://127.0.0.1:9', '--yes', '--concurrency-max', '1000'], '--concurrency-max must be'],
    [['doctor', 'http://127.0.0.1:9', '--yes', '--password-file', 'x'], '--password-file requires --user'],
  ])('refuses %j', async (argv, message) => {
    const { code, err } = await portico('/', argv);
    expect(code).toBe(2);
    expect(err).toContain(message);
    expect(err).not.toContain('secret');
  });
});

import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { PROGRAM } from '../../../src/cli/commands.ts';
import { runProgram } from '../../../src/cli/run-program.ts';
import { tempFolder } from '../../builders/temp-folder.ts';
import { processIoOf } from '../process-io-of.ts';

/** Writes a configuration to a new folder and runs the program there. */
async function portico(config: object, argv: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const folder = tempFolder();
  const file = join(folder, 'portico.yaml');
  writeFileSync(file, JSON.stringify(config));
  writeFileSync(join(folder, 'roles.yaml'), JSON.stringify({ roles: { anonymous: { permissions: [] } } }));
  chmodSync(file, 0o600);
  const { io, text } = processIoOf(folder, { env });
  return { code: await runProgram(PROGRAM, argv, io), ...text, file };
}

const risky = { mode: 'strict', upstream: { url: 'http://qa.example.org' }, logging: { level: 'debug' } };

describe('portico audit', () => {
  it('prints each finding with its key, source, risk and fix, and exits with 0', async () => {
    const { code, out, err } = await portico(risky, ['audit']);
    expect({ code, err }).toEqual({ code: 0, err: '' });
    expect(out).toMatch(
      /^HIGH {2}upstream-in-the-clear\n {2}upstream\.url \(portico\.yaml:1\): http:\/\/qa\.example\.org\n {2}risk: .+\n {2}fix: {2}.+\n\n/,
    );
    expect(out).toMatch(/Findings in portico\.yaml \(mode strict\): 1 high, 1 low, \d info\n$/);
  });

  it.each([
    ['critical', 0],
    ['high', 1],
    ['low', 1],
  ])('exits with the right code for --fail-on %s', async (severity, expected) => {
    const { code, err } = await portico(risky, ['audit', '--fail-on', severity]);
    expect(code).toBe(expected);
    expect(err.includes(`portico: findings of severity ${severity} or worse: 1 high`)).toBe(expected === 1);
  });

  it('refuses an unknown severity, and reports configuration errors like every command', async () => {
    expect(await portico(risky, ['audit', '--fail-on', 'severe'])).toMatchObject({
      code: 2,
      err: expect.stringContaining('must be one of critical, high, medium, low, info') as string,
    });
    expect(await portico({ mode: 'stric' }, ['audit'])).toMatchObject({
      code: 1,
      err: expect.stringContaining('did you mean strict?') as string,
    });
  });

  it('reads the permissions of files that contain secrets', async () => {
    const folder = tempFolder();
    const secret = join(folder, 'password');
    writeFileSync(secret, 'secret\n');
    const config = {
      mode: 'strict',
      readableSecrets: 'allow',
      upstream: {
        url: 'https://qa.example.org',
        credentials: { kind: 'service', username: 'x', passwordFile: secret },
      },
    };
    const found = async (mode: number) => {
      chmodSync(secret, mode);
      const { out } = await portico(config, ['audit']);
      return out.includes(`upstream.credentials (portico.yaml:1): ${secret}`);
    };
    expect([await found(0o640), await found(0o644)]).toEqual([false, true]);
  });
});

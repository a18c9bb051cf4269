import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'vitest';
import { packageRoot } from '../src/lib/package-root.ts';

const { scripts } = JSON.parse(readFileSync(join(packageRoot, 'package.json'), 'utf8')) as {
  readonly scripts: Readonly<Record<string, string>>;
};
/** The tools that the scripts in package.json run. */
const TOOLS = new Set(Object.values(scripts).flatMap((script) => script.match(/\btools\/[\w/-]+\.ts/g) ?? []));

interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

function run(tool: string, ...args: string[]): Promise<Ended> {
  const { promise, resolve } = Promise.withResolvers<Ended>();
  // A tool that does not recognize an argument may start to work, which can take minutes.
  const options = { cwd: packageRoot, timeout: 60_000 };
  const child = execFile(process.execPath, [tool, ...args], options, (_error, stdout, stderr) =>
    resolve({ code: child.exitCode, stdout, stderr }),
  );
  return promise;
}

describe.concurrent.each([...TOOLS])('%s', (tool) => {
  it('has a help text', async ({ expect }) => {
    const { code, stdout, stderr } = await run(tool, '--help');
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toMatch(/^Usage: (?:npm run|node tools\/).*\n(?:.*\n)* {2}--help +Show this help\.$/m);
  });

  it('rejects an unknown option', async ({ expect }) => {
    const message = "Unknown option '--chekc'\nUse --help to list the options.\n";
    expect(await run(tool, '--chekc')).toEqual({ code: 2, stdout: '', stderr: message });
  });
});

import { spawn } from 'node:child_process';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { callAt } from '../builders/call.ts';
import { exampleResponse } from '../builders/example-response.ts';
import { startFakeUpstream } from '../builders/fake-upstream.ts';

const root = join(import.meta.dirname, '..', '..');
const ends: (() => void)[] = [];
afterEach(() => {
  for (const end of ends.splice(0)) end();
});

/**
 * Runs the example exactly as written, except that it imports the sources instead of the installed package. Returns
 * its address.
 */
async function runExample(env: Readonly<Record<string, string>>): Promise<string> {
  const copy = join(root, 'examples', `.running-${process.pid}.ts`);
  const text = readFileSync(join(root, 'examples', 'express-app.ts'), 'utf8');
  writeFileSync(copy, text.replace("from 'portico'", "from '../src/portico.ts'"));
  const child = spawn(process.execPath, [copy], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  ends.push(() => {
    child.kill('SIGKILL');
    rmSync(copy, { force: true });
  });
  let output = '';
  for await (const part of child.stdout as AsyncIterable<Buffer>) {
    output += part.toString();
    const [, port] = /port: (\d+)/.exec(output) ?? [];
    if (port !== undefined) return `http://127.0.0.1:${port}`;
  }
  throw new Error(`the example ended: ${output}`);
}

describe('the Express example', () => {
  it('runs as written: its own route and the gateway behind one listener', async () => {
    const upstream = await startFakeUpstream(exampleResponse);
    const url = await runExample({ UPSTREAM_URL: upstream.url, PORT: '0', ADMIN_PORT: '0' });
    expect(await callAt(url, '/hello')).toMatchObject({ status: 200, json: { hello: 'world' } });
    expect(await callAt(url, '/services/v2/question.json')).toMatchObject({
      status: 200,
      headers: { via: '1.1 portico' },
    });
  });
});

/*
 * Measures the memory that commands need for inputs of different sizes: `check --from` for recordings, and `compare` for
 * two servers of which every response differs.
 *
 *   node bench/command-memory.ts [--quick]
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { questionPage } from './pages.ts';

const isQuick = process.argv.includes('--quick');
const print = (line: string) => void process.stdout.write(`${line}\n`);
const MIB = 1024 * 1024;
const folder = mkdtempSync(join(tmpdir(), 'portico-memory-'));
const page = JSON.parse(questionPage('29k').toString()) as { list: Record<string, unknown>[] };

/** Writes a recording of this size. Half of the bodies are in base64, as browsers record compressed ones. */
async function writeHar(file: string, bytes: number): Promise<void> {
  const stream = createWriteStream(file);
  stream.write('{"log":{"version":"1.2","entries":[');
  for (let at = 0, written = 0; written < bytes; at += 1) {
    const text = JSON.stringify({ ...page, page: 1 + (at % 9) });
    const content =
      at % 2 === 0
        ? { size: text.length, mimeType: 'application/json', text }
        : {
            size: text.length,
            mimeType: 'application/json',
            text: Buffer.from(text).toString('base64'),
            encoding: 'base64',
          };
    const entry = JSON.stringify({
      request: { method: 'GET', url: `https://qa.example.org/services/v2/question.json?page=${1 + (at % 9)}` },
      response: { status: 200, headers: [{ name: 'content-type', value: 'application/json' }], content },
    });
    written += entry.length + 1;
    if (!stream.write(at === 0 ? entry : `,${entry}`)) await once(stream, 'drain');
  }
  stream.end(']}}');
  await once(stream, 'close');
}

/** Runs a command, and returns the most memory that it had, in MiB, its time in seconds, and what it wrote. */
async function run(args: readonly string[]) {
  const startedAt = performance.now();
  const child = spawn(process.execPath, [join(import.meta.dirname, '..', 'bin', 'portico.mjs'), ...args], {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  let text = '';
  child.stdout.on('data', (part: Buffer) => void (text = (text + part.toString()).slice(0, 4_000_000)));
  let most = 0;
  const timer = setInterval(() => {
    try {
      const status = readFileSync(`/proc/${child.pid ?? 0}/status`, 'utf8');
      most = Math.max(most, Number(/VmHWM:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1024);
    } catch {
      // It has just ended.
    }
  }, 50);
  await once(child, 'close');
  clearInterval(timer);
  return { most, seconds: (performance.now() - startedAt) / 1000, text };
}

async function serve(respond: (count: number) => string): Promise<{ readonly url: string; readonly server: Server }> {
  let count = 0;
  const server = createServer((_request, response) => {
    count += 1;
    response.writeHead(200, { 'content-type': 'application/json' }).end(respond(count));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, server };
}

/** Returns a page of which each item differs, in ways that are other ones with each request; every fifth is another item. */
function differing(count: number): string {
  const list = page.list.map((item, at) => ({
    ...item,
    ...(at % 5 === 4 && { id: String(count * 100 + at), creationDate: count }),
    title: `Another title ${count}`,
    [`field${count % 2_000}`]: count,
    viewCount: null,
  }));
  return JSON.stringify({ ...page, list, totalCount: 1_000_000 + count, pageCount: 60_000 });
}

try {
  for (const size of isQuick ? [5, 50] : [50, 500]) {
    const file = join(folder, `${size}.har`);
    await writeHar(file, size * MIB);
    const { most, seconds, text } = await run(['check', '--from', file, '--format', 'json']);
    const { recording } = JSON.parse(text) as { recording: { exchanges: number; checked: number } };
    print(
      `check --from, ${(statSync(file).size / MIB).toFixed(0)} MiB: ${recording.checked} of ${recording.exchanges} responses, at most ${most.toFixed(0)} MiB, ${seconds.toFixed(0)} s`,
    );
    rmSync(file);
  }
  const old = await serve(() => JSON.stringify({ ...page, totalCount: 1_000_000, pageCount: 60_000 }));
  const next = await serve(differing);
  for (const requests of isQuick ? [200, 600] : [2_500, 10_000]) {
    const log = join(folder, 'access.log');
    const line = (at: number) =>
      `192.0.2.1 - - [06/May/2026:10:00:00 +0000] "GET /services/v2/question.json?page=${at} HTTP/1.1" 200 5\n`;
    writeFileSync(log, Array.from({ length: requests }, (_, at) => line(at + 1)).join(''));
    const { most, seconds, text } = await run([
      'compare',
      old.url,
      next.url,
      '--from',
      log,
      '--delay',
      '0',
      '--ask-again',
      '0',
      '--concurrency',
      '4',
      '--format',
      'json',
    ]);
    const { counts } = JSON.parse(text) as { counts: { exchanges: number; different: number } };
    print(
      `compare, ${requests} requests: ${counts.different} of ${counts.exchanges} different, at most ${most.toFixed(0)} MiB, ${seconds.toFixed(0)} s`,
    );
  }
  for (const { server } of [old, next]) {
    server.closeAllConnections();
    server.close();
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}

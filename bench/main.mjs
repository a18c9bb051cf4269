import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { load } from './load.mjs';

const seconds = Number(process.env.BENCH_SECONDS ?? 5);
const connections = Number(process.env.BENCH_CONNECTIONS ?? 16);
const portico = join(import.meta.dirname, '..', 'bin', 'portico.mjs');
const folder = mkdtempSync(join(tmpdir(), 'portico-bench-'));
const children = [];

/** Starts a program of Node's and resolves with the first address that it says after a word. */
function start(word, args) {
  // Its log is read and thrown away: writing it is part of the work that is measured.
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'], cwd: folder });
  children.push(child);
  child.stdout.resume();
  return new Promise((resolve, reject) => {
    let said = '';
    child.stderr.on('data', (part) => {
      said += part;
      const found = new RegExp(`${word}\\s+(http://[^\\s]+)`).exec(said);
      if (found) resolve(found[1]);
    });
    child.once('exit', () => reject(new Error(`${args.join(' ')} ended:\n${said}`)));
  });
}

/** Starts a gateway in front of the upstream with a configuration of its own. */
async function gateway(name, upstream, config) {
  const file = join(folder, `${name}.yaml`);
  writeFileSync(file, JSON.stringify({ roles: { file: 'roles.yaml' }, ...config }));
  const flags = ['--port', '0', '--admin-port', '0', '--config', file, '--upstream', upstream];
  const url = await start('public', [portico, 'serve', ...flags]);
  return url.replace(/\/services\/v2$/, '');
}

try {
  writeFileSync(join(folder, 'roles.yaml'), 'roles: { anonymous: {} }\n');
  const upstream = await start('Reference server:', [portico, 'reference', '--port', '0', '--db', ':memory:']);
  const rows = [
    ['reference server, no gateway', upstream],
    ['http-proxy-middleware alone', await start('listening', [join(import.meta.dirname, 'proxy.mjs'), upstream])],
    ['portico, observe', await gateway('observe', upstream, { mode: 'observe' })],
    ['portico, strict, no cache', await gateway('uncached', upstream, { mode: 'strict', cache: { enabled: false } })],
    [
      'portico, strict, page kept',
      await gateway('cached', upstream, { mode: 'strict', cache: { freshSeconds: 3600 } }),
    ],
  ];
  const headers = { authorization: `Basic ${Buffer.from('alice:alice').toString('base64')}` };
  console.log(`${seconds} s per row, ${connections} connections, question.json?pageSize=15\n`);
  console.log(`${'way'.padEnd(30)} ${'req/s'.padStart(8)} ${'p50 ms'.padStart(8)} ${'p99 ms'.padStart(8)}  statuses`);
  for (const [name, url] of rows) {
    const target = `${url}/services/v2/question.json?pageSize=15`;
    await load(target, { connections, seconds: 1, headers });
    const { perSecond, p50, p99, statuses } = await load(target, { connections, seconds, headers });
    const cells = [perSecond.toFixed(0), p50.toFixed(2), p99.toFixed(2)].map((cell) => cell.padStart(8)).join(' ');
    console.log(`${name.padEnd(30)} ${cells}  ${JSON.stringify(statuses)}`);
  }
} finally {
  for (const child of children) {
    child.removeAllListeners('exit');
    child.kill('SIGKILL');
  }
  rmSync(folder, { recursive: true, force: true });
}

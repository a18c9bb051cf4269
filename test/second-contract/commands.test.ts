import { join } from 'node:path';
import { writeFileSync } from 'node:fs';
import { beforeAll, describe, expect, it } from 'vitest';
import { createProgram } from '../../src/cli/commands.ts';
import type { StandIn } from '../../src/cli/program.ts';
import { runProgram } from '../../src/cli/run-program.ts';
import { optionsOf } from '../../src/engine/config/configurable.ts';
import { CommandFailure } from '../../src/lib/command.ts';
import { ledger } from '../../src/features/ledger/ledger.ts';
import { levels } from '../../src/features/levels/levels.ts';
import { processIoOf } from '../cli/process-io-of.ts';
import { BOOKSHOP, cashTill } from './bookshop.ts';
import { shopFolder, startShop } from './shop-folder.ts';

/** The program of the shop. It has no reference server. */
const SHOP = createProgram({ profile: BOOKSHOP, features: [ledger, levels, cashTill] });

let folder: string;
let url: string;
beforeAll(async () => {
  ({ url } = await startShop());
  folder = await shopFolder();
  const configuration = {
    mode: 'strict',
    contract: { folder },
    roles: { file: 'roles.json' },
    authentication: { verifier: 'file' },
    listen: { port: 0, adminPort: 0 },
    ledger: { file: ':memory:' },
    levels: { file: ':memory:' },
  };
  writeFileSync(join(folder, 'portico.yaml'), JSON.stringify(configuration), { mode: 0o600 });
});

/** Runs a command of the shop's program. */
async function run(...argv: readonly string[]) {
  const { io, text } = processIoOf(folder, { env: { PORTICO_CONFIG: join(folder, 'portico.yaml') } });
  const code = await runProgram(SHOP, argv, io);
  return { code, ...text };
}

describe('the commands, for another API', () => {
  it('check its configuration', async () => {
    expect(await run('check', '--upstream', url)).toEqual({
      code: 0,
      out: 'OK: portico.yaml, 5 operations, mode strict\n',
      err: '',
    });
  });

  it('print its plans', async () => {
    const { code, out } = await run('plan', '--upstream', url);
    expect(code).toBe(0);
    expect(out).toContain('GET  /shop/books ');
    expect(out).not.toContain('/services/v2');
  });

  it('explain its requests', async () => {
    const { code, out } = await run('explain', '/shop/books?colour=red', '--as', 'carol', '--upstream', url);
    expect(code).toBe(0);
    expect(out).toContain('unknown_parameter');
    expect((await run('explain', 'books')).err).toContain('as in /shop/books?page=1');
  });

  it('walk its server', async () => {
    const { code, out } = await run('check', '--against', url, '--delay', '0', '--upstream', url);
    expect(out).toContain('listBooks');
    expect(code).toBe(0);
  });

  it('show requests for it in the help', async () => {
    expect((await run('help', 'explain')).out).toContain("portico explain GET '/shop/books?page=1'");
    expect((await run('help', 'override')).out).toContain('portico override set listBooks responses=report');
    for (const { name } of SHOP.commands)
      expect((await run('help', name)).out).not.toMatch(
        /listQuestions|question\.json|services\/v2|\{(?:operation|target)\}/,
      );
  });

  it('have no flags for the reference server', async () => {
    const { code, out } = await run('help', 'serve');
    expect([code, out.split('\n')[0]]).toEqual([0, 'Run the gateway.']);
    expect(out).toContain('--upstream URL');
    expect(out).not.toMatch(/--db|--seed|--complete|--tracker|--fault|reference/);
    expect(await run('serve', '--upstream', url, '--seed', '2')).toMatchObject({
      code: 2,
      err: expect.stringContaining('unknown flag --seed') as string,
    });
    expect((await run('reference')).err).toContain('unknown command');
    expect((await run('completion', 'bash')).out).not.toMatch(/--seed|reference/);
  });

  it('have the flags of the server that stands in for the upstream, and run it', async () => {
    const started: unknown[] = [];
    const standIn: StandIn = {
      name: 'the model shop',
      flags: [{ name: 'days', pointer: '/ledger/retentionDays', isNumber: true, value: 'DAYS', help: 'Days open.' }],
      notes: ['The model shop sells no books.'],
      accounts: [],
      command: { name: 'model', load: () => Promise.reject(new Error('not needed')) },
      faults: () => [],
      describe: () => 'the model',
      start(settings) {
        started.push(optionsOf(settings, ledger));
        return Promise.reject(new CommandFailure('the model is closed'));
      },
    };
    const program = createProgram({ profile: BOOKSHOP, features: [ledger, levels, cashTill], standIn });
    expect((await run('help', 'serve')).out).not.toContain('model');
    const { io, text } = processIoOf(folder, { env: { PORTICO_CONFIG: join(folder, 'portico.yaml') } });
    await runProgram(program, ['help', 'serve'], io);
    expect(text.out).toContain('Run the gateway, along with the model shop if no upstream is configured.');
    expect(text.out).toMatch(/--days DAYS +Days open\.[^]*\n\nThe model shop sells no books\.\n$/);
    expect(await runProgram(program, ['serve', '--days', '7'], io)).toBe(1);
    expect(text.err).toBe('portico: the model is closed\n');
    expect(started).toMatchObject([{ retentionDays: 7 }]);
  });

  it('need an upstream if there is no reference server', async () => {
    expect(await run('serve')).toMatchObject({ code: 1, err: expect.stringContaining('/upstream/url') as string });
  });

  it('serve it until a signal, and show requests for it', async () => {
    const { io, text } = processIoOf(folder, { env: { PORTICO_CONFIG: join(folder, 'portico.yaml') } });
    const ended = Promise.withResolvers<void>();
    const shown = (line: string) => {
      text.err += `${line}\n`;
      // The last line of the banner. The gateway listens.
      if (line.includes('portico_checks_total')) ended.resolve();
    };
    // Others listen for signals, too: a browser that another test has launched ends the process.
    const others = new Set(process.listeners('SIGINT'));
    const code = runProgram(SHOP, ['serve', '--upstream', url], { ...io, err: shown });
    await Promise.race([ended.promise, code]);
    const own = process.listeners('SIGINT').filter((listener) => !others.has(listener));
    for (const listener of own) listener('SIGINT');
    expect(await code).toBe(0);
    for (const listener of own) process.off('SIGINT', listener);
    expect(text.err).toMatch(/curl -u NAME:PASSWORD 'http:\/\/127\.0\.0\.1:\d+\/shop\/books\?page=1'/);
  });
});

import { mkdirSync, mkdtempSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PROGRAM } from '../../../src/cli/commands.ts';
import { runProgram } from '../../../src/cli/run-program.ts';
import { startReferenceServer, type ReferenceServer } from '../../../src/reference/start-reference-server.ts';
import { renderJson } from '../../../src/workbench/report/json-report.ts';
import { REPORT_FORMATS } from '../../../src/workbench/report/formats.ts';
import { entryWith, PLAIN, reportOf, snapshotWith } from '../../workbench/report/report-fixtures.ts';

const folder = mkdtempSync(join(tmpdir(), 'portico-report-'));
let drifting: ReferenceServer | undefined;
beforeAll(async () => {
  drifting = await startReferenceServer({ complete: true, chaos: ['missing-field:type@6'] });
  const { code } = await portico(
    ['check', '--against', drifting.url, '--user', 'admin', '--release', '1.0', ...QUICK],
    { PORTICO_PASSWORD: 'admin' },
  );
  expect(code).toBe(0);
});
afterAll(async () => {
  await drifting?.close();
  rmSync(folder, { recursive: true, force: true });
});

const QUICK = ['--delay', '0', '--max-requests', '30'];

async function portico(argv: readonly string[], env: Record<string, string> = {}, stdin = '') {
  const text = { out: '', err: '' };
  const code = await runProgram(PROGRAM, argv, {
    out: (line) => void (text.out += `${line}\n`),
    err: (line) => void (text.err += `${line}\n`),
    stdin: Readable.from([stdin]),
    env: { PORTICO_LEDGER: join(folder, 'ledger.db'), ...env },
    cwd: folder,
  });
  return { code, ...text };
}

const file = (name: string, text: string): string => {
  writeFileSync(join(folder, name), text);
  return name;
};

const fingerprint = async (): Promise<string> => {
  const { out } = await portico(['report', '--format', 'json']);
  return (JSON.parse(out) as { violations: { fingerprint: string }[] }).violations[0]?.fingerprint ?? '';
};

describe('portico report', () => {
  it('names the ledger of the demo if there is nothing to report on a real server', async () => {
    const cwd = join(folder, 'beside');
    mkdirSync(join(cwd, '.portico', 'demo'), { recursive: true });
    writeFileSync(join(cwd, '.portico', 'demo', 'ledger.db'), '');
    const lines: string[] = [];
    const print = (line: string) => void lines.push(line);
    const io = { out: print, err: print, stdin: Readable.from(['']), env: {}, cwd };
    expect(await runProgram(PROGRAM, ['report'], io)).toBe(0);
    expect(lines.join('\n')).toContain(`add --ledger ${join(cwd, '.portico', 'demo', 'ledger.db')}`);
  });

  it('shows the violations that a walk has recorded', async () => {
    const { code, out } = await portico(['report']);
    expect(code).toBe(0);
    expect(out).toContain('1 distinct violation in 30 requests: 1 new.');
    expect(out).toContain('response 200, body /list/*/type: /list/*/type is missing');
  });

  it('shows one violation in detail, even by a prefix of its fingerprint', async () => {
    const { code, out } = await portico(['report', (await fingerprint()).slice(0, 8).toUpperCase()]);
    expect(code).toBe(0);
    expect(out).toMatch(/contract {5}schemas\/resources\/[\w-]+\.schema\.json:\d+ {2}#\S*\/required/);
    expect(out).toMatch(/request check-[\da-f-]{36}/);
    expect(out).toMatch(/- target: "\$\.components\.schemas\.\w+/);
    const json = await portico(['report', await fingerprint(), '--format', 'json']);
    expect(JSON.parse(json.out)).toMatchObject({ version: 1, kind: 'violation', fingerprint: await fingerprint() });
    expect((await portico(['report', '0123456789abcdef'])).code).toBe(1);
    expect((await portico(['report', 'nonsense'])).code).toBe(2);
  });

  it('fails for new violations with a reason in one line, and passes with a baseline', async () => {
    const failed = await portico(['report', '--fail-on', 'new']);
    expect(failed).toMatchObject({
      code: 1,
      err: 'portico: failed: 1 distinct violation not in the baseline (--fail-on new)\n',
    });
    const entry = { fingerprint: await fingerprint(), reason: 'known', owner: 'team q' };
    const baseline = file('baseline.yaml', JSON.stringify({ accepted: [entry] }));
    expect(await portico(['report', '--baseline', baseline, '--fail-on', 'new'])).toMatchObject({ code: 0, err: '' });
    const expired = file('expired.yaml', JSON.stringify({ accepted: [{ ...entry, expires: '2020-01-01' }] }));
    const again = await portico(['report', '--baseline', expired, '--fail-on', 'new']);
    expect(again.code).toBe(1);
    expect(again.out).toContain('Expired acceptances (1)');
  });

  it('reads a report that it has written to a file', async () => {
    const { code, out, err } = await portico(['report', '--format', 'json', '--output', 'reports/one.json']);
    expect({ code, out, err }).toEqual({ code: 0, out: '', err: 'Written to reports/one.json\n' });
    const [again, direct] = [await portico(['report', '--ledger', 'reports/one.json']), await portico(['report'])];
    // Only the command that shows an entry has to name the file, too.
    expect(again.out).toContain(' --ledger reports/one.json\n');
    expect(again.out.replace(' --ledger reports/one.json', '')).toBe(direct.out);
    expect(readFileSync(join(folder, 'reports/one.json'), 'utf8').endsWith('}\n')).toBe(true);
  });

  it('writes to standard output if the file is a dash', async () => {
    const { code, out, err } = await portico(['report', '--format', 'json', '--output', '-']);
    expect({ code, err }).toEqual({ code: 0, err: '' });
    expect(JSON.parse(out)).toHaveProperty('violations');
    expect(existsSync(join(folder, '-'))).toBe(false);
  });

  it('compares releases and files, and fails for violations that only the second side has', async () => {
    const before = file(
      'a.json',
      renderJson(reportOf(snapshotWith([entryWith({ fingerprint: 'a', at: '/list/*/type' })])), PLAIN),
    );
    const after = file('b.json', renderJson(reportOf(snapshotWith([entryWith({ fingerprint: 'b' })])), PLAIN));
    const compared = await portico(['report', '--compare', before, after, '--fail-on', 'new']);
    expect(compared).toMatchObject({
      code: 1,
      err: 'portico: failed: 1 distinct violation not in a.json (--fail-on new)\n',
    });
    expect(compared.out).toMatch(/New \(1\)[\s\S]*Gone \(1\)/);
    expect((await portico(['report', '--compare', '1.0', '1.0', '--fail-on', 'new'])).code).toBe(0);
    // A release can have the same name as a folder.
    mkdirSync(join(folder, '1.0'));
    expect((await portico(['report', '--compare', '1.0', '1.0'])).code).toBe(0);
    const unknown = await portico(['report', '--compare', '1.0', '1.9']);
    expect(unknown).toMatchObject({ code: 2 });
    expect(unknown.err).toContain('it contains 1.0');
  });

  it('states that there was no traffic', async () => {
    const { code, out } = await portico(['report'], { PORTICO_LEDGER: join(folder, 'none.db') });
    expect({ code, out }).toEqual({ code: 0, out: 'No traffic was recorded: there is nothing to report.\n' });
  });

  // If the command accepted a missing ledger, a pipeline with a wrong path would never fail.
  it.each([
    ['a flag', ['--ledger', 'none.db'], {}],
    ['the environment', [], { PORTICO_LEDGER: join(folder, 'none.db') }],
  ])('fails a gate without a ledger, and passes with --allow-empty, if %s names the file', async (_by, flags, env) => {
    const gate = ['report', '--fail-on', 'new', ...flags];
    const failed = await portico(gate, env);
    expect([failed.code, failed.err]).toEqual([1, expect.stringMatching(/does not exist|there is no such file/)]);
    expect(await portico([...gate, '--allow-empty'], env)).toMatchObject({ code: 0, err: '' });
    // The file exists before the first request, but it is still empty.
    writeFileSync(join(folder, 'empty.db'), '');
    const emptyEnv = 'PORTICO_LEDGER' in env ? { PORTICO_LEDGER: join(folder, 'empty.db') } : {};
    const empty = gate.map((word) => word.replace('none.db', 'empty.db'));
    expect(await portico(empty, emptyEnv)).toMatchObject({ code: 1 });
    expect(await portico([...empty, '--allow-empty'], emptyEnv)).toMatchObject({ code: 0, err: '' });
  });

  it('lists the known releases if the requested one is unknown, and fails with --fail-on', async () => {
    const unknown = await portico(['report', '--release', '1.1']);
    expect(unknown.code).toBe(0);
    expect(unknown.out).toContain('No traffic was recorded in release 1.1');
    expect(unknown.err).toMatch(
      /^portico: no data was recorded for release 1\.1; \S+ contains 1\.0 \(did you mean 1\.0\?\)\n$/,
    );
    expect(await portico(['report', '--release', '1.1', '--fail-on', 'new'])).toMatchObject({
      code: 1,
      err: unknown.err,
    });
    // A known release without traffic in the given period is not an error.
    const quiet = ['report', '--release', '1.0', '--since', '2999-01-01', '--fail-on', 'new'];
    expect(await portico(quiet)).toMatchObject({ code: 0, err: '' });
    expect((await portico(['report', '--release', '1.0', '--fail-on', 'type'])).err).toBe('');
  });

  it('starts at the full hour of --since, like the counts of the ledger, and shows that hour', async () => {
    // The most recent occurrence is at 10:29.
    const exported = file('hour.json', renderJson(reportOf(snapshotWith([entryWith()])), PLAIN));
    const late = await portico(['report', '--ledger', exported, '--since', '2026-05-04T10:29:30Z']);
    expect(late.out).toContain('1 distinct violation in 100 requests since 2026-05-04 10:00 UTC');
    const next = await portico(['report', '--ledger', exported, '--since', '2026-05-04T11:29:30Z']);
    expect(next.out).toContain('since 2026-05-04 11:00 UTC');
    expect(next.out).not.toContain('/list/*/type');
  });

  it('fails if the given file does not exist', async () => {
    expect(await portico(['report', '--ledger', 'none.db'])).toMatchObject({ code: 1, out: '' });
    expect(await portico(['report', '--baseline', 'none.yaml'])).toMatchObject({ code: 1, out: '' });
    expect((await portico(['report', '--ledger', file('odd.json', '{"version": 7}')])).err).toContain(
      '/version is not a report',
    );
  });

  it.each([
    [['--operation', 'listQuestion'], 'did you mean listQuestions?'],
    [['--format', 'yaml'], '--format yaml: must be one of table'],
    [['--since', 'soon'], '24h, 7d or an instant'],
    [['--fail-on', 'newish,x'], 'is neither new nor outages nor count=N nor a category'],
    [['--fail-on', 'new,missing'], '"new" cannot be combined with other rules; repeat --fail-on'],
    [['--fail-on', 'missing,count=3'], '"count=3" cannot be combined'],
    [['d42a'], 'at least the first 6'],
    [['d42a8e35fdeb1580', '--fail-on', 'new'], 'cannot be combined with a fingerprint'],
    [['--release', ''], '--release requires a label'],
    [['--compare', 'a'], '--compare requires two'],
    [['--compare', 'a', 'b', '--format', 'xml'], `one of ${[...REPORT_FORMATS.keys()].join(', ')}`],
    [['--compare', 'a', 'b', '--release', 'c'], 'cannot be combined with --release'],
  ])('refuses %j', async (argv, message) => {
    const { code, err } = await portico(['report', ...argv]);
    expect(code).toBe(2);
    expect(err).toContain(message);
  });
});

describe('portico check --against', () => {
  it('reads the password from standard input, and lists the operations that were not walked', async () => {
    const { code, out, err } = await portico(
      ['check', '--against', drifting?.url ?? '', '--user', 'admin', '--ledger', 'other.db', ...QUICK],
      {},
      'admin\n',
    );
    expect(code).toBe(0);
    expect(out).toContain('not walked: getGdprJob; no id is known: add --id jobId=…');
    expect(out).toContain('portico report --ledger other.db');
    expect(err).not.toContain('failed');
  });

  it('fails with --fail-on for violations that this walk found', async () => {
    const { code, out, err } = await portico(
      [
        'check',
        '--against',
        drifting?.url ?? '',
        '--user',
        'admin',
        '--ledger',
        ':memory:',
        '--fail-on',
        'missing',
        ...QUICK,
      ],
      { PORTICO_PASSWORD: 'admin' },
    );
    expect(code).toBe(1);
    expect(err).toContain('1 distinct violation of missing');
    // The ledger was kept only in memory, so there is nothing to report afterwards.
    expect(out).not.toContain('portico report');
  });

  it('reports in one line that the server does not respond or that access is denied', async () => {
    const gone = await portico(['check', '--against', 'http://127.0.0.1:9']);
    expect(gone).toMatchObject({ code: 1, out: '' });
    expect(gone.err).toContain('http://127.0.0.1:9 does not respond');
    const wrong = await portico(['check', '--against', drifting?.url ?? '', '--user', 'admin', ...QUICK], {
      PORTICO_PASSWORD: 'wrong',
    });
    expect(wrong.code).toBe(1);
    expect(wrong.err).toContain('the name or the password is wrong');
    expect(wrong.err).not.toContain('YWRtaW46');
  });

  it('does not mistake a wrong path on the server for a server without violations', async () => {
    const { code, err } = await portico(
      ['check', '--against', `${drifting?.url ?? ''}/services/v2`, '--user', 'admin', ...QUICK],
      { PORTICO_PASSWORD: 'admin', PORTICO_LEDGER: ':memory:' },
    );
    expect(code).toBe(1);
    expect(err).toContain(
      'responded with 404 to all requests: the base path is wrong; the URL must end before /services/v2',
    );
  });

  it.each([
    [['--user', 'admin'], 'requires --against URL'],
    [['--against', 'http://127.0.0.1:9', '--id', 'job=1'], 'unknown path parameter "job"'],
    [['--against', 'http://127.0.0.1:9', '--max-requests', '0'], 'a whole number from 1'],
    [['--against', 'http://127.0.0.1:9', '--timeout', '0'], 'a number of seconds greater than 0'],
    [['--against', 'http://127.0.0.1:9', '--user', 'a:b'], 'a user name without a colon'],
    [['--against', 'http://127.0.0.1:9', '--user', 'a'], 'no password for a'],
  ])('refuses %j', async (argv, message) => {
    const { code, err } = await portico(['check', ...argv]);
    expect(code).toBe(2);
    expect(err).toContain(message);
  });
});

/* oxlint-disable oxc/no-map-spread -- a few items are changed */
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { gzipSync } from 'node:zlib';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PROGRAM } from '../../../src/cli/commands.ts';
import { runProgram } from '../../../src/cli/run-program.ts';
import { type ReferenceServer, startReferenceServer } from '../../../src/reference/start-reference-server.ts';
import { tempFolder } from '../../builders/temp-folder.ts';
import { type SecondServer, startSecondServer } from '../../workbench/compare/second-server.ts';

/** What tests read from the JSON output. */
interface Written {
  readonly counts: Record<'exchanges' | 'equal' | 'different' | 'muted' | 'notComparable' | 'notMade', number> & {
    readonly notMadeBecause: Record<string, number>;
  };
  readonly differences: readonly { readonly fingerprint: string }[];
  readonly report: object;
  readonly places: unknown;
}

const folder = tempFolder();
let old: ReferenceServer;
let next: SecondServer;
beforeAll(async () => {
  const db = join(folder, 'data.db');
  old = await startReferenceServer({ db, complete: true });
  next = await startSecondServer(db);
  const callers = [
    'anonymous',
    ...['admin', 'bob'].map(
      (user) =>
        `${user}\n    old: { user: ${user}, passwordEnv: P_${user} }\n    new: { user: ${user}, passwordEnv: P_${user} }`,
    ),
  ];
  writeFileSync(join(folder, 'callers.yaml'), `callers:\n${callers.map((one) => `  - name: ${one}\n`).join('')}`);
});
afterAll(async () => {
  await old.close();
  await next.close();
});

async function compare(
  args: readonly string[],
  env: Record<string, string> = {},
  command = 'compare',
  stdin: readonly Buffer[] = [Buffer.alloc(0)],
) {
  const text = { out: '', err: '' };
  const code = await runProgram(PROGRAM, [command, ...args], {
    out: (line) => void (text.out += `${line}\n`),
    err: (line) => void (text.err += `${line}\n`),
    stdin: Readable.from(stdin),
    env: { P_admin: 'admin', P_bob: 'bob', ...env },
    cwd: folder,
  });
  return { code, ...text };
}

const QUICK = ['--delay', '0', '--ask-again', '0', '--max-requests', '40'];
const LEARN = ['--ids', 'learn', '--callers', 'callers.yaml', ...QUICK];

describe('portico compare', () => {
  it('finds nothing in an independent server with the same data, and says what was compared', async () => {
    const { code, out } = await compare([old.url, next.url, ...LEARN, '--fail-on', 'new', '--save-ids', 'ids.csv']);
    expect(out).toContain('  different               0\n');
    expect(out).toContain('Callers: anonymous, admin, bob. No leak was found.');
    expect(out).toMatch(/The same in another form: .*paired id ×\d+/);
    expect(out).toMatch(/listQuestions +admin +200 +\d+ +\d+ +0 +\d+/);
    expect(code).toBe(0);
    const pairs = readFileSync(join(folder, 'ids.csv'), 'utf8').split('\n');
    expect(pairs[0]).toBe('kind,old,new');
    expect(pairs.filter((pair) => pair.startsWith('node,')).length).toBeGreaterThan(20);
    // The walk has not seen all ids, so others are learned, too.
    writeFileSync(join(folder, 'few.csv'), pairs.slice(0, 12).join('\n'));
    const again = await compare([old.url, next.url, ...LEARN.with(1, 'few.csv'), '--save-ids', 'more.csv']);
    expect(again.out).toContain('  different               0\n');
    expect(readFileSync(join(folder, 'more.csv'), 'utf8').split('\n').length).toBeGreaterThan(100);
  });

  it('fails on a difference, in any report format, and reports it as a violation', async () => {
    next.spoil = (target, json) =>
      target.includes('idea.json') && Array.isArray(json['list'])
        ? { ...json, list: (json['list'] as object[]).map((item) => ({ ...item, score: 'high' })) }
        : json;
    const table = await compare([old.url, next.url, ...LEARN, '--fail-on', 'difference']);
    expect(table.code).toBe(1);
    expect(table.err).toContain('1 distinct violation of difference (--fail-on difference)');
    expect(table.out).toMatch(
      /type \/list\/\*\/score, GET \/services\/v2\/idea\.json.* as admin, bob: old: -?\d+; new: text of 4 characters/,
    );
    const json = await compare([old.url, next.url, ...LEARN, '--format', 'json', '--output', 'out/compare.json']);
    expect(json.code).toBe(0);
    const document = JSON.parse(readFileSync(join(folder, 'out/compare.json'), 'utf8')) as Written;
    const schema = JSON.parse(readFileSync('docs/cli.schema.json', 'utf8')) as object;
    const validate = new Ajv2020({ strict: false }).compile(schema);
    expect([validate(document), validate.errors]).toEqual([true, null]);
    const { counts } = document;
    expect(counts.equal + counts.different + counts.muted + counts.notComparable + counts.notMade).toBe(
      counts.exchanges,
    );
    expect(document.differences).toHaveLength(1);
    writeFileSync(join(folder, 'report.json'), JSON.stringify(document.report));
    const fingerprint = document.differences[0]?.fingerprint ?? '';
    const detail = await compare([fingerprint, '--ledger', 'report.json'], {}, 'report');
    expect(detail.out).toContain('difference: Different on the new server');
    expect(detail.out).toContain('the new server, or its data');
    const kept = await compare([old.url, next.url, ...LEARN, '--ledger', 'differences.db']);
    expect(kept.code).toBe(0);
    const report = await compare(['--ledger', 'differences.db', '--format', 'json'], {}, 'report');
    const { violations, requests } = JSON.parse(report.out) as {
      violations: { fingerprint: string; count: number; callers: number; category: string }[];
      requests: number;
    };
    expect(violations).toMatchObject([{ fingerprint, category: 'difference', callers: 2 }]);
    expect(requests).toBe(counts.equal + counts.different + counts.muted);
    // A second run is added to the first one.
    await compare([old.url, next.url, ...LEARN, '--ledger', 'differences.db']);
    const later = await compare(['--ledger', 'differences.db', '--format', 'json'], {}, 'report');
    expect(JSON.parse(later.out)).toMatchObject({ requests: 2 * requests });
    const junit = await compare([old.url, next.url, ...LEARN, '--format', 'junit']);
    expect(junit.out).toContain('<testsuite');
    expect(junit.err).toContain('Compared ');
    next.spoil = undefined;
  });

  it('fails on a leak without any rule, although the baseline accepts it', async () => {
    next.spoil = (target, json) =>
      target.includes('comment.json') && Array.isArray(json)
        ? (json as object[]).map((item) => ({ ...item, visibility: 'moderators' }))
        : json;
    const args = [old.url, next.url, ...LEARN.slice(0, -1), '150'];
    const first = await compare(args);
    expect(first.code).toBe(1);
    expect(first.err).toContain('the new server shows what the old one hides');
    const [, fingerprint = ''] = /LEAKS?: ([a-f0-9]{16})/.exec(first.out) ?? [];
    expect(first.out).toContain('A leak cannot be accepted.');
    expect(first.out).not.toContain('To accept it');
    const fingerprints = [...first.out.matchAll(/^ {2}([a-f0-9]{16}) {2}leak/gm)].map(([, id]) => id);
    writeFileSync(
      join(folder, 'leaks.yaml'),
      `accepted:\n${[...new Set([fingerprint, ...fingerprints])].map((id) => `  - { fingerprint: ${id}, reason: r, owner: o }\n`).join('')}`,
    );
    expect((await compare([...args, '--baseline', 'leaks.yaml'])).code).toBe(1);
    next.spoil = undefined;
  });

  it('measures the noise of one server, and reads the rules that it proposes', async () => {
    let count = 0;
    next.spoil = (target, json) =>
      target.includes('article.json') && Array.isArray(json['list'])
        ? { ...json, list: (json['list'] as object[]).map((item) => ({ ...item, score: (count += 1) })) }
        : json;
    const measured = await compare([next.url, next.url, ...QUICK, '--propose-noise', 'noise.yaml', '--user', 'admin'], {
      PORTICO_PASSWORD: 'admin',
    });
    expect(measured.code).toBe(0);
    expect(readFileSync(join(folder, 'noise.yaml'), 'utf8')).toMatch(
      /operation: "listArticles"\n {4}at: "\/list\/\*\/score"\n/,
    );
    const quiet = await compare([next.url, next.url, ...QUICK, '--noise', 'noise.yaml', '--user', 'admin'], {
      PORTICO_PASSWORD: 'admin',
    });
    expect(quiet.out).toContain('  different               0\n');
    next.spoil = undefined;
    const unused = await compare([next.url, next.url, ...QUICK, '--noise', 'noise.yaml', '--user', 'admin'], {
      PORTICO_PASSWORD: 'admin',
    });
    expect(unused.out).toContain('Unused noise rule: listArticles /list/*/score.');
  });

  it('reads passwords from files next to the file of callers', async () => {
    mkdirSync(join(folder, 'moving'));
    writeFileSync(join(folder, 'moving', 'secret'), 'admin');
    const account = '{ user: admin, passwordFile: secret }';
    writeFileSync(
      join(folder, 'moving', 'callers.yaml'),
      `callers: [{ name: admin, old: ${account}, new: ${account} }]`,
    );
    const { code, err } = await compare([old.url, next.url, ...QUICK, '--callers', 'moving/callers.yaml']);
    expect([code, err.includes('cannot be read')]).toEqual([0, false]);
  });

  it('sends one server only the accounts that belong to it', async () => {
    const account = (user: string) => `{ user: ${user}, passwordEnv: P_${user} }`;
    const file = `callers: [{ name: somebody, old: ${account('admin')}, new: ${account('bob')} }]`;
    writeFileSync(join(folder, 'two-accounts.yaml'), file);
    const args = [old.url, old.url, ...QUICK, '--callers', 'two-accounts.yaml'];
    const both = await compare(args);
    expect([both.code, both.err]).toEqual([2, expect.stringContaining('add --accounts old or --accounts new')]);
    // Nobody but admin may see the actions.
    const asked = async (side: string) =>
      JSON.parse((await compare([...args, '--accounts', side, '--format', 'json'])).out) as Written;
    const statuses = async (side: string) => JSON.stringify((await asked(side)).places);
    expect(await statuses('old')).not.toBe(await statuses('new'));
    expect((await compare([old.url, next.url, ...args.slice(2), '--accounts', 'old'])).code).toBe(2);
  });

  it('accepts repairs in the baseline, with an owner', async () => {
    old.setChaos(['missing-field:score@8']);
    const args = [old.url, next.url, ...LEARN, '--baseline', 'moving.yaml'];
    expect((await compare([...args, '--fail-on', 'new'])).err).toContain('there is no such file');
    const accepted = await compare([...args, '--accept-repairs', '--owner', 'the team']);
    expect(accepted.err).toMatch(/Accepted \d+ repairs? in /);
    expect(readFileSync(join(folder, 'moving.yaml'), 'utf8')).toContain('owner: the team');
    expect((await compare([...args, '--fail-on', 'new'])).code).toBe(0);
    old.setChaos([]);
  });

  it('continues a comparison of a log, and sends each request once', async () => {
    const line = (target: string) => `192.0.2.1 - - [06/May/2026:10:00:00 +0000] "GET ${target} HTTP/1.1" 200 5`;
    const targets = [
      '/services/v2/question.json?page=1',
      '/services/v2/question.json?page=2',
      '/services/v2/question.json?page=1',
      '/index.html',
    ];
    writeFileSync(join(folder, 'access.log'), [...targets.map(line), '"POST /services/v2/x HTTP/1.1" 200'].join('\n'));
    const args = [
      old.url,
      old.url,
      '--from',
      'access.log',
      '--delay',
      '0',
      '--resume',
      'state.json',
      '--format',
      'json',
    ];
    const first = JSON.parse((await compare(args)).out) as Written;
    expect(first.counts).toMatchObject({ exchanges: 5, equal: 2, notMade: 3 });
    expect(first.counts.notMadeBecause).toEqual({
      'asked already': 1,
      'not in the contract': 1,
      'not a GET request': 1,
    });
    expect(existsSync(join(folder, 'state.json'))).toBe(true);
    const second = JSON.parse((await compare(args)).out) as Written;
    expect(second.counts).toEqual(first.counts);
    const other = await compare([next.url, next.url, ...args.slice(2)]);
    expect(other.err).toContain('it belongs to another comparison (OLD, NEW)');
    const learning = await compare([...args, '--ids', 'learn']);
    expect(learning.err).toContain('it belongs to another comparison (--ids)');
    const log = readFileSync(join(folder, 'access.log'), 'utf8');
    writeFileSync(join(folder, 'access.log'), log.replace('page=2', 'page=3'));
    const changed = await compare(args);
    expect([changed.code, changed.err]).toEqual([1, expect.stringContaining('this is another recording')]);
  });

  it('walks only the operations that the ledger has seen', async () => {
    const ledger = { PORTICO_LEDGER: join(folder, 'ledger.db'), PORTICO_PASSWORD: 'admin' };
    const args = [old.url, old.url, '--from', 'ledger', '--user', 'admin', ...QUICK, '--format', 'json'];
    expect((await compare(args, ledger)).err).toContain('has no traffic yet');
    const walk = ['--against', old.url, '--user', 'admin', '--max-requests', '3', '--delay', '0', '--id', 'groupId=1'];
    expect((await compare(walk, ledger, 'check')).code).toBe(0);
    const seen = JSON.parse((await compare(args, ledger)).out) as Written & {
      readonly places: readonly { readonly operation: string }[];
    };
    expect(new Set(seen.places.map(({ operation }) => operation)).size).toBeLessThanOrEqual(3);
    expect(seen.counts).toMatchObject({ different: 0 });
  });

  it.each([
    [['http://a.example'], 'compare requires OLD NEW'],
    [['ftp://a', 'http://b.example'], 'must begin with http:// or https://'],
    [['http://u:p@a.example', 'http://b.example'], 'must not contain credentials'],
    [['http://a.example', 'http://b.example', '--user', 'admin'], 'add --credential-host b.example'],
    [['http://a.example', 'http://b.example', '--propose-noise', 'x'], 'requires the same server twice'],
    [['http://a.example', 'http://b.example', '--owner', 'x'], '--owner requires --accept-repairs'],
    [['http://a.example', 'http://b.example', '--accept-repairs'], 'requires --owner'],
    [['http://a.example', 'http://b.example', '--old-zone', 'Mars/Town'], 'must be a time zone'],
    [['http://a.example', 'http://b.example', '--from', 'none.log'], 'none.log does not exist'],
    [['http://a.example', 'http://b.example', '--from', '.'], '. cannot be read: it is a folder'],
    [['http://a.example', 'http://b.example', '--ids', 'none.csv'], 'none.csv cannot be read'],
  ])('rejects %j', async (args, message) => {
    const { code, err } = await compare(args, { PORTICO_PASSWORD: 'secret-password' });
    expect([code, err.includes(message)]).toEqual([
      message.includes('must begin') || /credentials|exist|read/.test(message) ? 1 : 2,
      true,
    ]);
    expect(err).not.toMatch(/secret-password|u:p/);
  });

  it('says which operations were refused to every caller, and which were not compared, in every format for people', async () => {
    const args = [old.url, next.url, '--ids', 'learn', ...QUICK];
    const refused = /Only refusals were compared, because no caller got a 2xx: .*listActions/;
    const never = /Never compared: getGdprJob .*id jobId=…/;
    for (const format of ['table', 'markdown', 'html']) {
      const { out } = await compare([...args, '--format', format]);
      expect(out).toMatch(refused);
      expect(out).toMatch(never);
      expect(out.replaceAll(/<[^>]*>/g, ' ')).toMatch(/listQuestions\W+anonymous/);
    }
    const { out } = await compare([...args, '--format', 'json', '--callers', 'callers.yaml', '--id', 'groupId=1']);
    const { onlyRefusals, neverCompared } = JSON.parse(out) as Record<string, unknown>;
    expect(onlyRefusals).toEqual([]);
    expect(neverCompared).toContainEqual({ operation: 'getGdprJob', missing: ['jobId'] });
  });

  it('names the callers whose account the old server does not accept, because the new one then seems to leak', async () => {
    const { out } = await compare([old.url, next.url, ...LEARN], { P_bob: 'wrong' });
    expect(out).toContain('refused all requests of bob with 401: check the names and passwords under old.');
    expect(out).not.toMatch(/all requests of .*(?:anonymous|admin)/);
  });

  it('names the operations in which only the new server violates the contract, although nothing differs', async () => {
    const { out } = await compare([old.url, next.url, ...LEARN]);
    expect(out).toContain('  different               0\n');
    expect(out).toMatch(
      /Only the new server violates the contract: listIdeas ×\d+; portico check --against \S+ says where/,
    );
  });

  it('recommends learning ids if they differ, and names only details that can be found later', async () => {
    const args = [old.url, next.url, '--callers', 'callers.yaml', ...QUICK];
    const { out } = await compare(args);
    expect(out).toContain('Ids differ. If things have other ids on the new server, add --ids learn.');
    expect(out).not.toContain('Details:');
    const kept = await compare([...args, '--ledger', 'found.db']);
    expect(kept.out).toMatch(/Details: portico report [\da-f]{16} --ledger found\.db/);
    const junit = await compare([...args, '--format', 'junit']);
    expect(junit.out).not.toContain('details: portico report');
    const [, command = ''] = /Details: portico (report .*)/.exec(kept.out) ?? [];
    expect(await compare(command.split(' ').slice(1), {}, 'report')).toMatchObject({ code: 0 });
  });

  it('says before it sends anything that repairs cannot be accepted without a baseline', async () => {
    const { code, err } = await compare([old.url, next.url, ...QUICK, '--accept-repairs', '--owner', 'ada']);
    expect(code).toBe(2);
    expect(err).toContain('--accept-repairs requires --baseline FILE or contract.baseline');
    expect(err).not.toContain('Comparing');
  });

  it('fails if nothing could be compared', async () => {
    const { code, err } = await compare(['http://127.0.0.1:9', 'http://127.0.0.1:9', ...QUICK]);
    expect(code).toBe(1);
    expect(err).toContain('nothing was compared: old server: connection refused ×');
  });

  it.each([
    ['/wrong', ['--user', 'admin'], 'status 404 ×2; check the path in OLD'],
    ['', [], 'status 401 ×2; check the path in OLD, and add --user or --callers'],
  ])('fails if the old server only refuses, at the path %j with %j', async (path, more, message) => {
    const requests = ['/services/v2/action.json', '/services/v2/action.json?page=2'];
    writeFileSync(join(folder, 'refused.log'), requests.map((target) => `"GET ${target} HTTP/1.1"`).join('\n'));
    const args = [old.url + path, old.url + path, '--from', 'refused.log', ...QUICK, ...more];
    const { code, out, err } = await compare(args, { PORTICO_PASSWORD: 'admin' });
    expect(out).toMatch(/equal +2\n/);
    expect(err).toContain(`the old server never sent what was requested: ${message}`);
    expect(code).toBe(1);
  });

  it('says what to do if nothing in a recording can be compared', async () => {
    writeFileSync(join(folder, 'notes.txt'), 'hello\n');
    const { code, err } = await compare([old.url, old.url, '--from', 'notes.txt']);
    expect(code).toBe(1);
    expect(err).toContain('nothing was compared: not readable ×1; name a HAR file');
  });

  it('reports what was compared before a recording ends too early, and fails', async () => {
    const lines = Array.from({ length: 40 }, (_, at) => `"GET /services/v2/question.json?page=${at} HTTP/1.1" 200 5`);
    const whole = gzipSync(lines.join('\n'));
    writeFileSync(join(folder, 'cut.log.gz'), whole.subarray(0, whole.length - 30));
    const { code, out, err } = await compare([old.url, old.url, '--from', 'cut.log.gz', ...QUICK]);
    expect(code).toBe(1);
    expect(err).toContain('failed: cut.log.gz is incomplete or damaged; what follows was not compared');
    expect(out).toMatch(/equal +[1-9]/);
  });

  it.each(['tally', 'comparison'])('says that the file from which to continue is damaged: %s', async (member) => {
    const args = [old.url, old.url, '--delay', '0', '--max-requests', '2', '--resume', 'damaged.json'];
    await compare(args);
    const state = JSON.parse(readFileSync(join(folder, 'damaged.json'), 'utf8')) as object;
    writeFileSync(join(folder, 'damaged.json'), JSON.stringify({ ...state, [member]: {} }), { mode: 0o600 });
    const { code, err } = await compare(args);
    rmSync(join(folder, 'damaged.json'));
    expect(code).toBe(1);
    expect(err).toContain('damaged.json cannot be used: it is damaged: delete it');
  });

  it('says at once that it could not be continued', async () => {
    writeFileSync(join(folder, 'a-file'), '');
    const before = old.url;
    const { code, err } = await compare([before, before, ...QUICK, '--resume', 'a-file/state.json']);
    expect(code).toBe(1);
    expect(err).toContain('a-file/state.json cannot be written');
    expect(err).not.toContain('Comparing');
    const wrong = await compare([before, before, '--concurrency', '99']);
    expect([wrong.code, wrong.err]).toEqual([2, expect.stringMatching(/^portico: --concurrency must be/)]);
  });
});

describe('portico check --from', () => {
  const entry = (path: string, content: object, status = 200) => ({
    request: { method: 'GET', url: `https://qa.example.org/qa${path}` },
    response: { status, headers: [{ name: 'content-type', value: 'application/json' }], content },
  });

  it('checks the responses of a recording, and counts those without a body', async () => {
    const question = await (await fetch(`${old.url}/services/v2/question.json`)).text();
    const broken = question.replace('"totalCount":', '"total":');
    const path = '/services/v2/question.json';
    const entries = [
      entry(path, { text: question }),
      entry(path, { text: broken }),
      entry(path, { size: 9 }),
      entry('/about.html', { text: '' }),
    ];
    writeFileSync(join(folder, 'capture.har'), JSON.stringify({ log: { entries } }));
    const piped = readFileSync(join(folder, 'capture.har'));
    const args = ['--fail-on', 'missing', '--from'];
    const { code, out, err } = await compare([...args, 'capture.har'], {}, 'check');
    const parts = [piped.subarray(0, 5), piped.subarray(5)];
    expect(await compare([...args, '-'], {}, 'check', parts)).toEqual({ code, out, err });
    expect(out).toContain('Checked 2 responses of 4 exchanges.\n');
    expect(out).toContain('  not checked: no body recorded ×1\n');
    expect(out).toContain('  not checked: not in the contract ×1\n');
    expect(out).toContain('listQuestions, response 200, body /totalCount');
    expect(err).toContain('1 distinct violation of missing');
    expect(code).toBe(1);
  });

  it('fails if it says nothing about the server, or is not what it seems', async () => {
    writeFileSync(
      join(folder, 'empty.har'),
      JSON.stringify({ log: { entries: [entry('/services/v2/question.json', { size: 9 })] } }),
    );
    const empty = await compare(['--from', 'empty.har', '--format', 'json'], {}, 'check');
    expect(empty.code).toBe(1);
    expect(JSON.parse(empty.out)).toMatchObject({
      kind: 'recording',
      ok: false,
      recording: { exchanges: 1, checked: 0 },
    });
    writeFileSync(join(folder, 'half.har'), '{"log":{"entries":[{"request":');
    expect((await compare(['--from', 'half.har'], {}, 'check')).err).toContain('half.har ends too early');
    const text = JSON.stringify({ log: { entries: [entry('/services/v2/question.json', { text: '{}' })] } });
    writeFileSync(join(folder, 'cut.har'), text.replace(/\]\}\}$/, ',{"request":'));
    const cut = await compare(['--from', 'cut.har'], {}, 'check');
    expect([cut.code, cut.out]).toEqual([1, expect.stringContaining('Checked 1 response of 1 exchange.')]);
    expect(cut.err).toContain('cut.har ends too early; what follows was not checked');
    expect(empty.err).toContain('no body recorded ×1; record the bodies as well');
    expect((await compare(['--from', 'nothing.har'], {}, 'check')).err).toContain('nothing.har does not exist');
    expect((await compare(['--from', 'half.har', '--delay', '5'], {}, 'check')).err).toContain(
      '--delay cannot be combined with --from',
    );
  });
});

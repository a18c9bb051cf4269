import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import * as fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { parse } from 'yaml';
import { PROGRAM } from '../../src/cli/commands.ts';
import { runProgram } from '../../src/cli/run-program.ts';
import { packageRoot } from '../../src/lib/package-root.ts';
import { type FakeUpstream, startFakeUpstream } from '../builders/fake-upstream.ts';
import { tempFolder } from '../builders/temp-folder.ts';
import { startTestGateway, type TestGateway } from '../builders/test-gateway.ts';

let fake: FakeUpstream;
beforeAll(async () => {
  // On this upstream, a path that contains `lost` does not exist.
  fake = await startFakeUpstream(({ target }) => ({ status: target.includes('lost') ? 404 : 200, json: {} }));
});
afterAll(() => fake.close());

interface Sent {
  readonly method: string;
  readonly target: string;
}

const send = async (gateway: TestGateway, requests: readonly Sent[]) => {
  const failed: string[] = [];
  for (const { method, target } of requests) {
    const { status, text } = await gateway.call(target, { method, user: 'admin' });
    if (status >= 400 && !target.includes('lost')) failed.push(`${method} ${target} ${status} ${text}`);
    if (/not_in_contract|method_not_allowed/.test(text)) failed.push(`${method} ${target} is refused`);
  }
  return failed;
};

/** Returns what `portico report --suggest-allow` prints for a ledger. */
async function suggest(ledger: string, config: Record<string, string> = {}): Promise<string> {
  const lines: string[] = [];
  const code = await runProgram(PROGRAM, ['report', '--ledger', ledger, '--suggest-allow'], {
    out: (line) => void lines.push(line),
    err: (line) => void lines.push(line),
    stdin: Readable.from([]),
    env: config,
    cwd: tempFolder(),
  });
  expect({ code, lines: code === 0 ? [] : lines }).toEqual({ code: 0, lines: [] });
  return lines.join('\n');
}

const word = fc.constantFrom('poll', 'ballot', 'Vote-Box', 'question', 'user', 'lost', 'space');
const id = fc.oneof(fc.nat(99_999).map(String), fc.constantFrom('QA-1', 'jana.cerny', 'a%20b', '7f9a3b2c1d'));
const request: fc.Arbitrary<Sent> = fc.record({
  method: fc.constantFrom('GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'),
  target: fc
    .tuple(
      fc.array(fc.oneof(word, id), { minLength: 1, maxLength: 14 }),
      fc.constantFrom('.json', '', '/', '.csv', '?x=1'),
    )
    .map(([segments, ending]) => `/services/v2/${segments.join('/')}${ending}`),
});

it('what observe records and suggest-allow prints lets the same requests pass in staging and strict', async () => {
  const ledger = join(tempFolder(), 'ledger.db');
  const observe = await startTestGateway({ upstream: fake, config: { mode: 'observe', ledger: { file: ledger } } });
  const requests: Sent[] = [
    { method: 'DELETE', target: '/services/v2/question.json' },
    { method: 'POST', target: '/services/v2/poll/17/ballot.json?voter=jana' },
    ...fc.sample(request, 60),
  ];
  await send(observe, requests);
  await observe.close();
  const text = await suggest(ledger);
  expect(text).toContain("- { method: POST, path: '/services/v2/poll/{id}/ballot.json' } # 1 request");
  // Clients choose the words in paths, so these words might contain personal data.
  expect(text).not.toMatch(/jana|QA-1|7f9a|a%20b/);
  // A wildcard in the place of a word that is not stored would also allow other paths.
  const config = parse(text) as { undocumented: { allow: { path: string }[] } };
  expect(config.undocumented.allow.filter(({ path }) => /\{name\}|\*/.test(path))).toEqual([]);
  const suggested = requests.filter((one) => wholePath(one.target));
  expect(suggested.length).toBeGreaterThan(2);
  for (const mode of ['staging', 'strict'])
    expect(await send(await startTestGateway({ upstream: fake, config: { ...config, mode } }), suggested)).toEqual([]);
});

/** Returns whether the ledger stores the whole path: at most one unknown word, which follows the base path or an id. */
function wholePath(target: string): boolean {
  const segments = target.replace(/\?.*/, '').split('/').slice(3);
  const [last = ''] = segments.splice(-1);
  const words = [...segments, last.replace(/\.json$/, '')];
  return (
    words.length <= 8 &&
    last !== '' &&
    words.every(
      (one, at) =>
        /^(?:\d{1,5}|question|user|space)$/.test(one) ||
        (/^[a-z]+$/.test(one) &&
          one !== 'lost' &&
          !target.includes('lost') &&
          (at === 0 || /^\d/.test(words[at - 1] ?? ''))),
    )
  );
}

it('suggests nothing that an audit would call critical, and no wildcard for a word that is not stored', async () => {
  const folder = tempFolder();
  const ledger = join(folder, 'ledger.db');
  const authentication = { anonymous: 'allow' };
  const observe = await startTestGateway({
    upstream: fake,
    config: { mode: 'observe', authentication, ledger: { file: ledger } },
  });
  await send(observe, [
    { method: 'POST', target: '/services/v2/poll/1.json' },
    { method: 'POST', target: '/services/v2/admin/reindex.json' },
    { method: 'GET', target: '/services/v2/poll/1.json' },
  ]);
  await observe.close();
  const file = join(folder, 'portico.yaml');
  writeFileSync(file, JSON.stringify({ authentication, roles: { file: join(packageRoot, 'config', 'roles.yaml') } }));
  const text = await suggest(ledger, { PORTICO_CONFIG: file });
  expect(parse(text)).toEqual({ undocumented: { allow: [{ method: 'GET', path: '/services/v2/poll/{id}.json' }] } });
  expect(text).toContain("#   - { method: POST, path: '/services/v2/poll/{id}.json' }");
  expect(text).toMatch(/Write the paths yourself[^\n]*\n# {3}POST \/services\/v2\/admin\/\{name\}\.json/);
  expect(text).not.toMatch(/path: '[^']*(?:\{name\}|\*)/);
});

it('observe does not report requests that an entry allows, and staging refuses exactly what observe reports', async () => {
  const ledger = join(tempFolder(), 'ledger.db');
  const undocumented = { allow: [{ method: 'POST', path: '/services/v2/poll/{id}.json' }] };
  const requests = [
    { method: 'POST', target: '/services/v2/poll/1.json' },
    { method: 'POST', target: '/services/v2/ballot/1.json' },
    { method: 'POST', target: '/login' },
  ];
  const config = { mode: 'observe', undocumented, ledger: { file: ledger } };
  const observe = await startTestGateway({ upstream: fake, config });
  await send(observe, requests);
  await observe.close();
  const lines = (await suggest(ledger)).split('\n').filter((line) => !/^# [A-Z{]/.test(line));
  expect(lines).toEqual([
    'undocumented:',
    '  allow:',
    '    # The modes staging and strict refuse these requests without an entry.',
    "    - { method: POST, path: '/services/v2/ballot/{id}.json' } # 1 request",
    '#   POST /login',
  ]);
  const staging = await startTestGateway({ upstream: fake, config: { mode: 'staging', undocumented } });
  expect((await send(staging, requests)).filter((line) => line.endsWith('is refused'))).toEqual([
    'POST /services/v2/ballot/1.json is refused',
    'POST /login is refused',
  ]);
});

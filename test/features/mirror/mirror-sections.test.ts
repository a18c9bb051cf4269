import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { PROGRAM } from '../../../src/cli/commands.ts';
import { runProgram } from '../../../src/cli/run-program.ts';
import { createMirrorCounts } from '../../../src/features/mirror/mirror-counts.ts';
import { writeMirrorFile } from '../../../src/features/mirror/mirror-file.ts';
import { subjectOf } from '../../../src/features/mirror/mirror-store.ts';
import { addTotals, noTotals } from '../../../src/features/mirror/mirror-totals.ts';
import { tempFolder } from '../../builders/temp-folder.ts';

const SECOND = { url: 'https://new.example', label: '2.17' };
const VALID = { old: 'valid', new: 'valid' } as const;

/** Creates a folder with the counts of a gateway that compared two operations. */
async function withCounts(label = SECOND.label) {
  const folder = tempFolder();
  const counts = createMirrorCounts('s', Date.now);
  const cell = { operation: 'listIdeas', status: 200, role: 'standard', parameters: ['sort'] };
  const compared = {
    isRace: false,
    isUnconfirmed: false,
    undecided: 0,
    verdicts: VALID,
    seconds: { old: 0.02, new: 0.05 },
    versions: { contract: 'c0ffee', release: '1.6.3' },
  };
  for (let caller = 0; caller < 60; caller += 1)
    counts.compared(cell, { ...compared, outcome: 'equal', found: [], caller });
  const found = (fingerprint: string, at: string, keyword = 'compare-value') =>
    counts.found(
      cell,
      { fingerprint, keyword, at, message: 'the new server sends another value', verdicts: VALID },
      { old: 'text of 3 characters', new: 'text of 5 characters', beside: [] },
    );
  counts.compared(cell, { ...compared, outcome: 'different', found: ['aaaaaaaaaaaaaaaa'], caller: 1 });
  found('aaaaaaaaaaaaaaaa', '/list/*/title');
  counts.compared(
    { ...cell, operation: 'listQuestions' },
    { ...compared, outcome: 'different', found: ['bbbb'], caller: 1 },
  );
  found('bbbb', '/list/*/score');
  // A refusal on both servers is equal, but shows nothing about the operation.
  for (const status of [401, 404])
    counts.compared(
      { ...cell, operation: 'listActions', status },
      { ...compared, outcome: 'equal', found: [], caller: 1 },
    );
  counts.compared(
    { ...cell, operation: 'listQuestions', status: 401 },
    { ...compared, outcome: 'equal', found: [], caller: 1 },
  );
  counts.notMade({ ...cell, operation: 'listActions' }, 'stored page');
  counts.notMade({ ...cell, operation: 'listQuestions' }, 'stored page');
  const subject = subjectOf({ ...SECOND, label });
  const totals = { ...addTotals(noTotals(subject, Date.parse('2026-05-01')), counts.take()), subject };
  await writeMirrorFile(join(folder, 'mirror.json'), { key: Buffer.alloc(32), totals });
  writeFileSync(
    join(folder, 'portico.yaml'),
    JSON.stringify({
      upstream: { url: 'https://old.example' },
      mirror: { ...SECOND, file: 'mirror.json', share: 1 },
      ledger: { file: ':memory:' },
    }),
    { mode: 0o600 },
  );
  writeFileSync(
    join(folder, 'baseline.yaml'),
    'accepted: [{ fingerprint: aaaaaaaaaaaaaaaa, reason: renamed, owner: web <team>, expires: 2999-12-31 }]\n',
  );
  return folder;
}

const report = (cwd: string, args: readonly string[]) => run(cwd, ['report', '--config', 'portico.yaml', ...args]);

async function run(cwd: string, args: readonly string[]) {
  const text = { out: '', err: '' };
  const code = await runProgram(PROGRAM, args, {
    out: (line) => void (text.out += `${line}\n`),
    err: (line) => void (text.err += `${line}\n`),
    stdin: Readable.from(['']),
    env: {},
    cwd,
  });
  return { code, ...text };
}

const SECTION = ['--section', 'mirror', '--baseline', 'baseline.yaml'];

describe('the readiness in a report', () => {
  it('says what was compared, what is open and accepted, by whom, and how sure it is', async () => {
    const { code, out } = await report(await withCounts(), SECTION);
    expect(code).toBe(0);
    expect(out).toMatch(/^Readiness for 2\.17\n2\.17 at https:\/\/new\.example, compared with the upstream/);
    expect(out).toMatch(/from 2026-05-01 to\s\d{4}-/);
    expect(out).toMatch(/65 of 67 exchanges were compared \(97%\), and 1 distinct difference is open\./);
    expect(out).toMatch(/Never compared, so nothing is known: [^.]*listArticles/);
    expect(out.replaceAll('\n', ' ')).toContain(
      'Only refusals were compared, because no caller got a 2xx: listActions.',
    );
    expect(out).toMatch(/listIdeas +61 +60 +1 +0 +0 +0 +1 +0 {2}web <team>/);
    expect(out).toMatch(/listQuestions +3 +1 +1 +0 +0 +1 +0 +1/);
    // 60 callers, none of whom would notice what nobody has accepted: 1 - 0.05^(1/60).
    expect(out).toMatch(/listIdeas +61 +0 +100% +60 +at most 4\.8% +at most 4\.9% +18 ms → 38 ms +25 ms → 50 ms/);
    expect(out).toMatch(/listQuestions +2 +0 +66\.7% +1 +at most 97\.5% +at most 100%/);
    expect(out).toMatch(/listQuestions +stored page +1/);
    expect(out).toMatch(/listIdeas +sort +200 +standard +61 +1 +0 +0/);
    expect(out).toMatch(/c0ffee +1\.6\.3 +65/);
    expect(out).not.toContain('No traffic was recorded');
  });

  it('is a document in Markdown and HTML, in which nothing is markup, and data in JSON', async () => {
    const folder = await withCounts();
    const markdown = await report(folder, [...SECTION, '--format', 'markdown']);
    expect(markdown.out).toMatch(/^## Readiness for 2\.17\n/);
    expect(markdown.out).toContain('web &lt;team&gt;');
    const html = await report(folder, [...SECTION, '--format', 'html']);
    expect(html.out).toContain('<title>Readiness for 2.17</title>');
    expect(html.out).toContain('web &lt;team&gt;');
    // The headers of numbers are aligned as the numbers are.
    expect(html.out).toMatch(/<th scope="col" class="column-not-made number">/);
    const json = await report(folder, ['--baseline', 'baseline.yaml', '--section', 'mirror', '--format', 'json']);
    expect(JSON.parse(json.out)).toMatchObject({
      sections: {
        mirror: {
          label: '2.17',
          versions: [{ contract: 'c0ffee', release: '1.6.3', count: 65 }],
          operations: [
            { operation: 'listActions', compared: 2, onlyRefusals: true },
            { operation: 'listIdeas', compared: 61, accepted: 1, owners: ['web <team>'], noticingCallers: 0 },
            { operation: 'listQuestions', different: 1, accepted: 0, onlyRefusals: false },
          ],
        },
      },
    });
    const one = await report(folder, [...SECTION, '--operation', 'listQuestions']);
    expect(one.out).not.toContain('listIdeas');
  });

  it('says that nothing is known if the counts belong to another server', async () => {
    const { code, out } = await report(await withCounts('2.16'), SECTION);
    expect([code, out]).toEqual([0, expect.stringContaining('Nothing has been compared yet')]);
  });

  it('is refused if there is no such section, or if the format has none', async () => {
    const { code, err } = await report(await withCounts(), ['--section', 'mirrors']);
    expect([code, err]).toEqual([2, expect.stringContaining('known are mirror')]);
    const detail = await report(await withCounts(), ['abcdef012345', '--section', 'mirror']);
    expect(detail.err).toContain('--section cannot be combined with a fingerprint');
    // An empty report would look as if nothing were wrong.
    const junit = await report(await withCounts(), [...SECTION, '--format', 'junit']);
    expect([junit.code, junit.err]).toEqual([2, expect.stringContaining('--format junit, which has no sections')]);
  });
});

describe('an address that cannot be used', () => {
  it('is one error, and its password is not shown', async () => {
    const folder = await withCounts();
    const upstream = { url: 'https://old.example' };
    const config = { upstream, mirror: { url: 'https://a:b@new.example', share: 1, file: ':memory:' } };
    writeFileSync(join(folder, 'wrong.yaml'), JSON.stringify(config), { mode: 0o600 });
    const { code, err } = await run(folder, ['check', '--config', 'wrong.yaml']);
    expect(code).toBe(1);
    expect(err.match(/must not contain credentials/g)).toHaveLength(1);
    expect(err).not.toContain('a:b');
  });
});

import {
  chmodSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openBaselineFile, parseBaseline, readBaselineFile } from '../../../src/features/baseline/baseline-file.ts';
import { StartFault } from '../../../src/engine/model/fault.ts';
import { tempFolder } from '../../builders/temp-folder.ts';

describe('the file of the baseline', () => {
  const folder = tempFolder();
  let files = 0;
  const nextFile = (text?: string) => {
    const file = join(folder, `${(files += 1)}.yaml`);
    if (text !== undefined) writeFileSync(file, text);
    return file;
  };
  const PLACE = { source: 'portico.yaml:3', pointer: '/contract/baseline' };
  const NOW = Date.UTC(2026, 4, 4, 10);
  const [ONE, TWO, THREE] = ['a000000000000001', 'b000000000000002', 'c000000000000003'] as const;
  const accepted = (fingerprint: string, more: object = {}) => ({
    fingerprint,
    reason: 'known',
    owner: 'team',
    expires: undefined,
    summary: undefined,
    ...more,
  });

  const TEXT = `# Our baseline.
accepted:
  # Since the upgrade.
  - fingerprint: ${ONE}
    reason: known
    owner: team # ask there
  - fingerprint: ${TWO}
    reason: old
    owner: team
    expires: 2026-05-04
`;

  describe('the baseline of a running gateway', () => {
    it('accepts its entries until the end of their last day', () => {
      const baseline = openBaselineFile(nextFile(TEXT), PLACE);
      const accepts = (fingerprint: string, at: number) => baseline.isAccepted(fingerprint, at);
      expect([accepts(ONE, NOW), accepts(TWO, NOW), accepts(THREE, NOW)]).toEqual([true, true, false]);
      expect(accepts(TWO, Date.UTC(2026, 4, 5) - 1)).toBe(true);
      expect(accepts(TWO, Date.UTC(2026, 4, 5))).toBe(false);
      expect(baseline.warnings(NOW)).toEqual([]);
      expect(baseline.warnings(Date.UTC(2026, 4, 5))).toMatchObject([
        { message: expect.stringContaining(TWO) as string },
      ]);
    });

    it('withdraws an acceptance at once and preserves the comments of the file', async () => {
      const file = nextFile(TEXT);
      const baseline = openBaselineFile(file, PLACE);
      expect(await baseline.withdraw(ONE)).toBe(true);
      expect(baseline.isAccepted(ONE, NOW)).toBe(false);
      expect(readBaselineFile(file).accepted.map(({ fingerprint }) => fingerprint)).toEqual([TWO]);
      expect(readFileSync(file, 'utf8')).toContain('# Our baseline.');
      expect(await baseline.withdraw(ONE)).toBe(false);
      expect(await baseline.withdraw(TWO)).toBe(true);
      expect(readBaselineFile(file)).toEqual({ accepted: [] });
    });

    it('is empty if the file does not exist', () => {
      const baseline = openBaselineFile(nextFile(), PLACE);
      expect([baseline.read(), baseline.isAccepted(ONE, NOW)]).toEqual([{ accepted: [] }, false]);
      expect(baseline.warnings(NOW)).toMatchObject([{ message: expect.stringContaining('does not exist') as string }]);
    });

    it('causes a configuration error if it is unreadable or invalid', () => {
      mkdirSync(join(folder, 'folder'));
      expect(() => openBaselineFile(join(folder, 'folder'), PLACE)).toThrow(
        expect.objectContaining({ faults: [expect.objectContaining(PLACE)] }),
      );
      expect(() => openBaselineFile(nextFile('accepted: 7'), PLACE)).toThrow(StartFault);
    });

    it('accepts a new entry at once, writes it to the file and preserves what people wrote', async () => {
      const file = nextFile(TEXT);
      chmodSync(file, 0o640);
      const baseline = openBaselineFile(file, PLACE);
      // Someone adds an entry to the file while the gateway is running.
      writeFileSync(file, `${TEXT}  - { fingerprint: d000000000000004, reason: by hand, owner: me }\n`);
      await baseline.accept(accepted(THREE, { expires: '2027-01-01', summary: 'id: is "text"' }));
      expect([baseline.isAccepted(THREE, NOW), baseline.isAccepted('d000000000000004', NOW)]).toEqual([true, true]);
      const text = readFileSync(file, 'utf8');
      for (const original of ['# Our baseline.', '# Since the upgrade.', '# ask there', 'by hand'])
        expect(text).toContain(original);
      expect(openBaselineFile(file, PLACE).read()).toEqual(baseline.read());
      expect(baseline.read().accepted).toHaveLength(4);
      expect(statSync(file).mode & 0o777).toBe(0o640);
    });

    it('updates the existing entry of a violation', async () => {
      const file = nextFile(TEXT);
      const baseline = openBaselineFile(file, PLACE);
      await baseline.accept(accepted(TWO, { reason: 'again' }));
      expect(baseline.isAccepted(TWO, Date.UTC(2030, 1, 1))).toBe(true);
      expect(readBaselineFile(file).accepted).toMatchObject([
        { fingerprint: ONE },
        { fingerprint: TWO, reason: 'again' },
      ]);
    });

    it.each([undefined, '', '# only a remark\n', 'accepted:\n', 'accepted: []\n'])(
      'adds the first entries to a file: %j',
      async (text) => {
        const file = nextFile(text);
        const baseline = openBaselineFile(file, PLACE);
        await Promise.all([
          baseline.accept(accepted(ONE)),
          baseline.accept(accepted(TWO)),
          baseline.accept(accepted(THREE)),
        ]);
        expect(readBaselineFile(file).accepted.map(({ fingerprint }) => fingerprint)).toEqual([ONE, TWO, THREE]);
        if (text?.startsWith('#')) expect(readFileSync(file, 'utf8')).toContain('# only a remark');
      },
    );

    it('does not overwrite a file that has become invalid, and leaves no temporary file', async () => {
      const own = join(folder, 'own');
      mkdirSync(own);
      const file = join(own, 'baseline.yaml');
      writeFileSync(file, TEXT);
      const baseline = openBaselineFile(file, PLACE);
      writeFileSync(file, 'accepted: [');
      await expect(baseline.accept(accepted(THREE))).rejects.toThrow(StartFault);
      expect(readFileSync(file, 'utf8')).toBe('accepted: [');
      expect(baseline.isAccepted(THREE, NOW)).toBe(false);
      writeFileSync(file, TEXT);
      await baseline.accept(accepted(THREE));
      expect(readdirSync(own)).toEqual(['baseline.yaml']);
    });

    it('applies the change of another gateway at once, and writes it to its file', async () => {
      const file = nextFile(TEXT);
      const baseline = openBaselineFile(file, PLACE);
      let changes = 0;
      baseline.onChange(() => (changes += 1));
      const adopted = [
        baseline.adopt({ fingerprint: THREE, accepted: accepted(THREE) }),
        baseline.adopt({ fingerprint: ONE, accepted: null }),
      ];
      const fingerprints = () => baseline.read().accepted.map(({ fingerprint }) => fingerprint);
      expect(fingerprints()).toEqual([TWO, THREE]);
      await adopted[0];
      // The file still contains the other entry, which must not be accepted again.
      expect(baseline.isAccepted(ONE, NOW)).toBe(false);
      await adopted[1];
      expect(readBaselineFile(file).accepted.map(({ fingerprint }) => fingerprint)).toEqual([TWO, THREE]);
      expect(readFileSync(file, 'utf8')).toContain('# Our baseline.');
      expect(changes).toBe(2);
    });

    it('applies the change of another gateway even if it cannot write it', async () => {
      const file = nextFile(TEXT);
      const baseline = openBaselineFile(file, PLACE);
      writeFileSync(file, 'accepted: [');
      await expect(baseline.adopt({ fingerprint: ONE, accepted: null })).rejects.toThrow(StartFault);
      expect(baseline.isAccepted(ONE, NOW)).toBe(false);
    });

    it('writes to the target of a symbolic link', async () => {
      const target = nextFile(TEXT);
      const link = nextFile();
      symlinkSync(target, link);
      await openBaselineFile(link, PLACE).accept(accepted(THREE));
      expect(lstatSync(link).isSymbolicLink()).toBe(true);
      expect(readBaselineFile(target).accepted).toHaveLength(3);
    });
  });

  describe('the baseline of a report', () => {
    it('must exist', () => {
      expect(() => readBaselineFile(nextFile())).toThrow(/there is no such file/);
    });
  });
});

describe('a baseline file', () => {
  const ENTRY = { fingerprint: 'a123456789abcdef', reason: 'known since 2019', owner: 'team search' };
  const faultsOf = (text: string) => parseBaseline(text, 'baseline.yaml').faults;
  const withEntry = (more: object) => JSON.stringify({ accepted: [{ ...ENTRY, ...more }] });

  it('is read with all fields of an entry', () => {
    const text = `
# ours
accepted:
  - fingerprint: a123456789abcdef
    reason: known since 2019
    owner: team search
    expires: 2026-12-31
    summary: id is text
  - { fingerprint: 'b123456789abcdef', reason: r, owner: o }
`;
    expect(parseBaseline(text, 'b').baseline?.accepted).toEqual([
      { ...ENTRY, expires: '2026-12-31', summary: 'id is text' },
      { fingerprint: 'b123456789abcdef', reason: 'r', owner: 'o', expires: undefined, summary: undefined },
    ]);
  });

  it.each(['', '# nothing yet\n', 'accepted:\n', 'accepted: []\n', '---\n'])('may be empty: %j', (text) => {
    expect(parseBaseline(text, 'b').baseline).toEqual({ accepted: [] });
  });

  it.each<[string, string, object]>([
    ['a list instead of a mapping', '[1]', { pointer: '', message: /must be a mapping/ }],
    ['another key', 'accept: []', { pointer: '/accept', message: /unknown key/, suggestion: 'accepted' }],
    ['a number instead of a list', 'accepted: 7', { pointer: '/accepted', message: /must be a list/ }],
    ['an entry that is not a mapping', 'accepted: [x]', { pointer: '/accepted/0', message: /must be a mapping/ }],
    ['no reason', withEntry({ reason: undefined }), { pointer: '/accepted/0', message: /must have reason/ }],
    ['an empty owner', withEntry({ owner: ' ' }), { pointer: '/accepted/0/owner', message: /must be text/ }],
    [
      'an invalid fingerprint',
      withEntry({ fingerprint: 'abc' }),
      { pointer: '/accepted/0/fingerprint', message: /16 hexadecimal/ },
    ],
    ['a number', withEntry({ fingerprint: 1234 }), { pointer: '/accepted/0/fingerprint', message: /must be text/ }],
    [
      'a date that does not exist',
      withEntry({ expires: '2026-02-30' }),
      { pointer: '/accepted/0/expires', message: /a date/ },
    ],
    ['a misspelled key', withEntry({ expire: '2026-02-03' }), { pointer: '/accepted/0/expire', suggestion: 'expires' }],
    [
      'a repeated violation',
      JSON.stringify({ accepted: [ENTRY, ENTRY] }),
      { pointer: '/accepted/1/fingerprint', message: /already accepted by \/accepted\/0/ },
    ],
    [
      'an entry below an empty flow list',
      'accepted: []\n  - fingerprint: a123456789abcdef\n    reason: r\n    owner: o\n',
      { pointer: '', suggestion: expect.stringContaining('"accepted:" on its own line') as string },
    ],
    ['broken YAML', 'accepted: [', { pointer: '', message: /./ }],
    ['a repeated key', 'accepted: []\naccepted: []\n', { pointer: '', message: /has the same key twice/ }],
  ])('causes a configuration error with its location: %s', (_name, text, fault) => {
    const wanted = Object.fromEntries(
      Object.entries(fault).map(([key, value]) => [
        key,
        value instanceof RegExp ? expect.stringMatching(value) : value,
      ]),
    );
    expect(faultsOf(text)).toContainEqual(expect.objectContaining(wanted));
  });

  it('is rejected if it is larger than 4 MiB, without being parsed', () => {
    const [largest, larger] = [4 * 1024 * 1024, 4 * 1024 * 1024 + 1].map((length) => faultsOf('#'.padEnd(length, 'x')));
    expect([largest, larger]).toMatchObject([[], [{ message: 'is larger than 4 MiB' }]]);
  });

  it('has only one error for a key that is misspelled', () => {
    const { owner, ...rest } = ENTRY;
    const faults = faultsOf(JSON.stringify({ accepted: [{ ...rest, ownr: owner }] }));
    expect(faults).toMatchObject([{ pointer: '/accepted/0/ownr', message: 'unknown key', suggestion: 'owner' }]);
  });

  it('reports errors with their line', () => {
    expect(faultsOf('accepted:\n  - reason: x\n    owner: y\n')[0]?.source).toBe('baseline.yaml:2');
  });

  it('has all its errors reported in one run', () => {
    expect(faultsOf(JSON.stringify({ accepted: [{}, { ...ENTRY, expires: 'soon' }] }))).toHaveLength(4);
  });
});

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
import { openBaselineFile, readBaselineFile } from '../../../src/ledger/baseline/baseline-file.ts';
import { StartFault } from '../../../src/model/fault.ts';
import { tempFolder } from '../../builders/temp-folder.ts';

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
    expect(baseline.expired(NOW)).toEqual([]);
    expect(baseline.expired(Date.UTC(2026, 4, 5)).map(({ fingerprint }) => fingerprint)).toEqual([TWO]);
  });

  it('is empty if the file does not exist', () => {
    const baseline = openBaselineFile(nextFile(), PLACE);
    expect([baseline.missing, baseline.read(), baseline.isAccepted(ONE, NOW)]).toEqual([true, { accepted: [] }, false]);
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
    // An entry is added by hand while the gateway runs.
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
    expect(() => readBaselineFile(nextFile())).toThrow(/does not exist/);
  });
});

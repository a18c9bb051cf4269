import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readCompareState, writeCompareState } from '../../../src/workbench/compare/resume.ts';
import { tempFolder } from '../../builders/temp-folder.ts';
import { comparatorFor, tallyOf } from './two-servers.ts';

const folder = tempFolder();

describe('the file from which a comparison continues', () => {
  it('belongs to one comparison', () => {
    const file = join(folder, 'state.json');
    expect(readCompareState(file, 'a')).toBeUndefined();
    const tally = tallyOf();
    const { comparator } = comparatorFor({ old: 'http://a.example', new: 'http://b.example' });
    tally.notMade('asked already', 3);
    writeCompareState(file, {
      subject: 'a',
      position: 7,
      unfinished: [],
      tally: tally.save(),
      comparison: comparator.save(),
      ids: [],
    });
    const state = readCompareState(file, 'a');
    expect(state?.position).toBe(7);
    expect(tallyOf(state?.tally).counts()).toMatchObject({
      exchanges: 3,
      notMade: 3,
      notMadeBecause: { 'asked already': 3 },
    });
    expect(() => readCompareState(file, 'b')).toThrow('another comparison');
    writeFileSync(file, '{"version":9}');
    expect(() => readCompareState(file, 'a')).toThrow('another version');
  });
});

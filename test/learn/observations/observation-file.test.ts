import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createObservationWriter, readObservationFile } from '../../../src/learn/observations/observation-file.ts';
import { emptyObservations } from '../../../src/learn/observations/observations.ts';
import { tempFolder } from '../../builders/temp-folder.ts';

const NOW = Date.UTC(2026, 4, 4, 10);

describe('the file of observations', () => {
  it('is readable for its owner only, like the folder created for it', () => {
    const folder = join(tempFolder(), 'deep');
    const file = join(folder, 'observations.json');
    const failures: string[] = [];
    const writer = createObservationWriter(
      file,
      () => emptyObservations(NOW),
      (message) => failures.push(message),
    );
    writer.changed();
    writer.close();
    expect(failures).toEqual([]);
    expect([statSync(folder).mode & 0o777, statSync(file).mode & 0o777]).toEqual([0o700, 0o600]);
    expect(readdirSync(folder)).toEqual(['observations.json']);
    expect(readFileSync(file, 'utf8')).toContain('"portico":"observations"');
    expect(readObservationFile(file, { source: 'test', pointer: '' }, 1).sinceAt).toBe(NOW);
  });
});

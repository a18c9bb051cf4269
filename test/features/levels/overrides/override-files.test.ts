import { mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createOverrideFiles, readOverrideFile } from '../../../../src/features/levels/overrides/override-files.ts';
import { tempFolder } from '../../../builders/temp-folder.ts';
import { overrideWith } from './override-with.ts';

const ideas = overrideWith();
const stale = overrideWith({ operation: 'listQuestions', kind: 'force-stale', maxStaleSeconds: 60, by: undefined });
const level = overrideWith({ kind: 'level', check: 'responses', level: 'report', from: undefined });

function filesIn(folder = join(tempFolder(), 'new')) {
  const file = join(folder, 'overrides.json');
  const errors: unknown[] = [];
  const files = createOverrideFiles(file, (error) => errors.push(error));
  return { folder, file, errors, files };
}

describe('the file of overrides', () => {
  it('contains the active overrides, and only its owner may read it', async () => {
    const { folder, file, files } = filesIn();
    expect(readOverrideFile(file)).toEqual([]);
    files.replace([ideas]);
    files.replace([stale, level]);
    expect(await files.written()).toBe(true);
    expect(readOverrideFile(file)).toEqual([stale, level]);
    expect(readdirSync(folder)).toEqual(['overrides.json']);
    expect(statSync(file).mode & 0o777).toBe(0o600);
  });

  it('is written only once the change has its entry in the audit trail', async () => {
    const { file, files } = filesIn();
    const recorded = Promise.withResolvers<boolean>();
    files.replace([ideas], recorded.promise);
    await new Promise(setImmediate);
    expect(readOverrideFile(file)).toEqual([]);
    recorded.resolve(false);
    expect(await files.written()).toBe(false);
    expect(readOverrideFile(file)).toEqual([ideas]);
  });

  it('reports each failed write, and the next one can succeed', async () => {
    const { file, errors, files } = filesIn();
    mkdirSync(file, { recursive: true });
    files.replace([ideas]);
    expect(await files.written()).toBe(false);
    expect(errors).toHaveLength(1);
  });

  it('is not written at all in memory', async () => {
    const files = createOverrideFiles(':memory:', () => expect.unreachable());
    files.replace([ideas]);
    expect(await files.written()).toBe(true);
    expect(readOverrideFile(':memory:')).toEqual([]);
  });

  const stored = (more: object) => ({
    operation: 'listIdeas',
    kind: 'disable',
    reason: 'x',
    setAt: '2026-05-04T10:00:00Z',
    until: '2026-05-04T11:00:00Z',
    ...more,
  });
  it.each([
    ['', 'it is not JSON'],
    ['[]', 'the file must be an object'],
    ['{"version":2,"overrides":[]}', 'version must be 1'],
    ['{"version":1}', 'overrides must be a list'],
    ['{"version":1,"overrides":[7]}', 'overrides[0] must be an object'],
    [[stored({ setAt: 'now' })], 'overrides[0].setAt must be an instant'],
    [[stored({ operation: 7 })], 'overrides[0].operation must be text'],
    // It must not be possible to bypass the rules for operators by editing the file.
    [[stored({}), stored({ until: '2026-06-04T11:00:00Z' })], 'overrides[1].until: The end must be at most 168 hours'],
    [[stored({ kind: 'level', check: 'permissions', level: 'off' })], 'overrides[0].check:'],
    [[stored({ reason: '' })], 'overrides[0].reason:'],
  ])('are refused at the start if they are damaged: %j', (content, message) => {
    const folder = tempFolder();
    const file = join(folder, 'overrides.json');
    writeFileSync(file, typeof content === 'string' ? content : JSON.stringify({ version: 1, overrides: content }));
    expect(() => readOverrideFile(file)).toThrow(message);
  });
});

import { mkdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openSqliteStore } from '../../../src/features/changes/sqlite-store.ts';
import { cleanUpAfterTest } from '../../builders/clean-up.ts';
import { tempFolder } from '../../builders/temp-folder.ts';
import { testFeedStore } from './feed-store.contract.ts';

const LIMITS = { maxEvents: 10, retentionMs: 1_000 };

describe('a store in a file', () => {
  testFeedStore(async () => {
    const folder = join(tempFolder(), 'changes');
    return Promise.resolve((limits) => {
      const store = openSqliteStore(folder, limits);
      cleanUpAfterTest(() => store.close());
      return store;
    });
  });

  it('can be read only by its owner', () => {
    const folder = join(tempFolder(), 'changes');
    openSqliteStore(folder, LIMITS).close();
    expect(statSync(folder).mode & 0o077).toBe(0);
    expect(statSync(join(folder, 'feed.db')).mode & 0o077).toBe(0);
  });

  it('refuses a file that is something else', () => {
    const folder = join(tempFolder(), 'changes');
    mkdirSync(folder);
    writeFileSync(join(folder, 'feed.db'), 'text '.repeat(1_000));
    expect(() => openSqliteStore(folder, LIMITS)).toThrow(/feed\.db cannot be used/);
  });

  it('has a limited number of documents', () => {
    const store = openSqliteStore(':memory:', LIMITS);
    const add = (name: string) => store.commit({ document: name, revision: 0, text: '', events: [], at: 0 });
    for (let index = 0; index < 200; index += 1) void add(`d${index}`);
    expect(() => add('one more')).toThrow(/too many documents/);
    store.close();
  });
});

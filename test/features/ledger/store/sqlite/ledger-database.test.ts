import { chmodSync, copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it } from 'vitest';
import {
  assertSound,
  openLedgerDatabase,
  readLedgerDatabase,
} from '../../../../../src/features/ledger/store/sqlite/ledger-database.ts';
import { tempFolder } from '../../../../builders/temp-folder.ts';

const folder = tempFolder();
let files = 0;
const nextFile = () => join(folder, `${(files += 1)}.db`);
const foreign = (path: string, sql: string) => {
  const database = new DatabaseSync(path);
  database.exec(sql);
  database.close();
};
const ours = (path: string, sql = '') => {
  openLedgerDatabase(path).close();
  foreign(path, sql);
};

describe('a file that is not a ledger of this version', () => {
  it.each<[string, RegExp, (path: string) => void]>([
    ['text', /is not an SQLite database/, (path) => writeFileSync(path, 'text '.repeat(200))],
    ['the database of another program', /is not a ledger/, (path) => foreign(path, 'CREATE TABLE x (y)')],
    ['an empty database of another program', /is not a ledger/, (path) => foreign(path, 'PRAGMA user_version = 3')],
    ['a ledger with newer tables', /was written by a newer version/, (path) => ours(path, 'PRAGMA user_version = 99')],
    ['a ledger with older tables', /was written by an older version/, (path) => ours(path, 'PRAGMA user_version = 0')],
    [
      'the first half of a ledger',
      /is damaged|is not an SQLite database/,
      (path) => {
        ours(path);
        writeFileSync(path, readFileSync(path).subarray(0, 5_000));
      },
    ],
  ])('is rejected and left unchanged: %s', (_name, says, make) => {
    const path = nextFile();
    make(path);
    const before = readFileSync(path);
    for (const open of [openLedgerDatabase, readLedgerDatabase])
      expect(() => {
        const database = open(path);
        try {
          assertSound(database, path);
        } finally {
          database.close();
        }
      }).toThrow(says);
    expect(readFileSync(path).equals(before)).toBe(true);
  });

  it('is detected by a check of all its pages', () => {
    const path = nextFile();
    ours(path);
    const bytes = readFileSync(path);
    bytes.fill(0x5a, 4096 * 2 + 8, 4096 * 3);
    writeFileSync(path, bytes);
    expect(() => {
      const database = openLedgerDatabase(path);
      try {
        assertSound(database, path);
      } finally {
        database.close();
      }
    }).toThrow(/is damaged/);
  });

  it('is reported as unusable if it cannot be created', () => {
    writeFileSync(join(folder, 'file'), '');
    mkdirSync(join(folder, 'folder'));
    for (const path of [join(folder, 'file', 'ledger.db'), join(folder, 'folder')])
      expect(() => openLedgerDatabase(path)).toThrow(expect.objectContaining({ problem: 'unusable' }));
  });
});

describe('a ledger opened read-only', () => {
  it('is reported as missing if it does not exist, and is not created', () => {
    const path = nextFile();
    expect(() => readLedgerDatabase(path)).toThrow(expect.objectContaining({ problem: 'missing' }));
    expect(() => readFileSync(path)).toThrow('ENOENT');
  });

  it('rejects writing', () => {
    const path = nextFile();
    ours(path);
    const database = readLedgerDatabase(path);
    expect(() => database.exec('DELETE FROM entries')).toThrow(/readonly/);
    database.close();
  });

  it('can be read in a read-only folder', () => {
    const closed = join(folder, 'closed');
    const path = join(closed, 'ledger.db');
    ours(path);
    copyFileSync(path, join(folder, 'copy.db'));
    chmodSync(closed, 0o500);
    const database = readLedgerDatabase(path);
    expect(database.prepare('SELECT count(*) AS count FROM entries').get()?.['count']).toBe(0);
    database.close();
    chmodSync(closed, 0o700);
  });
});

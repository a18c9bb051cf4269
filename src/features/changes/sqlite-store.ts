import { randomBytes } from 'node:crypto';
import { closeSync, mkdirSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { IN_MEMORY } from '../../lib/replace-file.ts';
import { inTransaction } from '../../lib/sqlite-transaction.ts';
import type { FeedEvent } from './event.ts';
import { createListeners, type FeedStore, FeedStoreError, type StoreLimits } from './feed-store.ts';

/** Identifies a file as a store of the change feed (`PRAGMA application_id`): "PtCh". */
const APPLICATION_ID = 0x50744368;

/** The version of the tables. Increase it whenever they change. */
const TABLES_VERSION = 1;

const TABLES = `
CREATE TABLE meta (name TEXT PRIMARY KEY, value ANY) STRICT, WITHOUT ROWID;
CREATE TABLE documents (name TEXT PRIMARY KEY, revision INTEGER NOT NULL, text TEXT NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE events (
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  at INTEGER NOT NULL,
  source TEXT NOT NULL,
  kind TEXT NOT NULL,
  target_type TEXT NOT NULL,
  target_id TEXT NOT NULL,
  title TEXT,
  data TEXT NOT NULL
) STRICT;
CREATE INDEX events_by_source ON events (source, number);
CREATE INDEX events_by_age ON events (at);
PRAGMA application_id = ${APPLICATION_ID};
PRAGMA user_version = ${TABLES_VERSION};
`;

/** How long a writer waits for another process with the same file, in milliseconds. */
const BUSY_MS = 5_000;

/** The maximum number of documents. There is one for each list and each webhook. */
const MAX_DOCUMENTS = 200;

/**
 * Opens the store in a folder, or in memory. Throws a `FeedStoreError` if it cannot be used.
 *
 * A transaction survives the end of the process as soon as it is committed, but not necessarily a loss of power.
 */
export function openSqliteStore(folder: string, { maxEvents, retentionMs }: StoreLimits): FeedStore {
  const database = openDatabase(folder);
  const listeners = createListeners();
  const statements = {
    meta: database.prepare('SELECT value FROM meta WHERE name = ?'),
    document: database.prepare('SELECT revision, text FROM documents WHERE name = ?'),
    documents: database.prepare('SELECT count(*) AS count FROM documents'),
    store: database.prepare(
      `INSERT INTO documents (name, revision, text) VALUES (?, ?, ?)
       ON CONFLICT (name) DO UPDATE SET revision = excluded.revision, text = excluded.text`,
    ),
    add: database.prepare(
      'INSERT INTO events (at, source, kind, target_type, target_id, title, data) VALUES (?, ?, ?, ?, ?, ?, ?)',
    ),
    // The age is that of the latest event that is too old, so that the removed ones are always the first ones.
    outdated: database.prepare(
      `SELECT max(coalesce((SELECT max(number) FROM events WHERE at < ?), 0),
                  coalesce((SELECT max(number) FROM events), 0) - ?) AS number`,
    ),
    remove: database.prepare('DELETE FROM events WHERE number <= ?'),
    range: database.prepare(
      `SELECT coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'events'), 0) AS last,
              (SELECT min(number) FROM events) AS first`,
    ),
    after: database.prepare('SELECT * FROM events WHERE number > ? ORDER BY number LIMIT ?'),
    latest: database.prepare('SELECT * FROM events WHERE source = ? ORDER BY number DESC LIMIT ?'),
  };
  const lineage = String(statements.meta.get('lineage')?.['value']);
  return {
    lineage: () => lineage,
    read(document) {
      const row = statements.document.get(document);
      return row && { text: String(row['text']), revision: Number(row['revision']) };
    },
    commit({ document, revision, text, events, at }) {
      const isStored = inTransaction(database, () => {
        const current = Number(statements.document.get(document)?.['revision'] ?? 0);
        if (current !== revision) return false;
        if (current === 0 && Number(statements.documents.get()?.['count']) >= MAX_DOCUMENTS)
          throw new FeedStoreError('the store of the change feed has too many documents');
        statements.store.run(document, revision + 1, text);
        for (const { source, kind, target, title, data } of events)
          statements.add.run(at, source, kind, target.type, target.id, title ?? null, data);
        if (events.length > 0) {
          const outdated = statements.outdated.get(Math.round(at - retentionMs), maxEvents);
          statements.remove.run(Number(outdated?.['number']));
        }
        return true;
      });
      if (isStored && events.length > 0) listeners.tell();
      return isStored;
    },
    after: (number, max) => statements.after.all(number, max).map(toEvent),
    latest: (source, max) => statements.latest.all(source, max).map(toEvent),
    range() {
      const row = statements.range.get();
      const last = Number(row?.['last']);
      const first = row?.['first'];
      return { last, removed: typeof first === 'number' ? first - 1 : last };
    },
    onEvents: listeners.add,
    close: () => database.close(),
  };
}

function toEvent(row: Record<string, unknown>): FeedEvent {
  const title = row['title'];
  return {
    number: Number(row['number']),
    at: Number(row['at']),
    source: String(row['source']),
    kind: String(row['kind']),
    target: { type: String(row['target_type']), id: String(row['target_id']) },
    title: typeof title === 'string' ? title : undefined,
    data: String(row['data']),
  };
}

function openDatabase(folder: string): DatabaseSync {
  const path = folder === IN_MEMORY ? IN_MEMORY : join(folder, 'feed.db');
  let database: DatabaseSync | undefined;
  try {
    if (folder !== IN_MEMORY) {
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      // Items can contain what only some callers may read.
      closeSync(openSync(path, 'a', 0o600));
    }
    database = new DatabaseSync(path, { timeout: BUSY_MS });
    const opened = database;
    opened.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA journal_size_limit = 4194304;');
    inTransaction(opened, () => {
      if (opened.prepare('SELECT 1 FROM sqlite_schema').get() !== undefined) return;
      opened.exec(TABLES);
      opened.prepare('INSERT INTO meta (name, value) VALUES (?, ?)').run('lineage', randomBytes(4).toString('hex'));
    });
    const pragma = (name: string) => Number(opened.prepare(`PRAGMA ${name}`).get()?.[name]);
    if (pragma('application_id') !== APPLICATION_ID || pragma('user_version') !== TABLES_VERSION)
      throw new FeedStoreError(`${path} is not a store of the change feed of this version`);
    return opened;
  } catch (error) {
    database?.close();
    if (error instanceof FeedStoreError) throw error;
    throw new FeedStoreError(`${path} cannot be used: ${error instanceof Error ? error.message : 'unknown error'}`);
  }
}

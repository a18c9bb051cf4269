/** Marks a SQLite file as a ledger of Portico's (`PRAGMA application_id`): "PtLg". */
export const APPLICATION_ID = 0x50744c67;

/** The version of the tables (`PRAGMA user_version`), raised whenever they change. */
export const TABLES_VERSION = 1;

/** What is made in an empty file. */
export const TABLES = `
CREATE TABLE meta (name TEXT PRIMARY KEY, value ANY) STRICT, WITHOUT ROWID;
CREATE TABLE releases (
  id INTEGER PRIMARY KEY,
  label TEXT NOT NULL UNIQUE,
  last_seen_at INTEGER NOT NULL
) STRICT;
CREATE TABLE entries (
  id INTEGER PRIMARY KEY,
  fingerprint TEXT NOT NULL UNIQUE,
  direction TEXT NOT NULL,
  operation TEXT,
  facts TEXT NOT NULL,
  first_seen_at INTEGER NOT NULL,
  last_seen_at INTEGER NOT NULL,
  callers BLOB NOT NULL,
  samples TEXT NOT NULL
) STRICT;
CREATE INDEX entries_by_age ON entries (direction, last_seen_at);
CREATE TABLE entry_hours (
  entry INTEGER NOT NULL REFERENCES entries ON DELETE CASCADE,
  release INTEGER NOT NULL REFERENCES releases ON DELETE CASCADE,
  hour INTEGER NOT NULL,
  count INTEGER NOT NULL,
  PRIMARY KEY (entry, release, hour)
) STRICT, WITHOUT ROWID;
CREATE TABLE traffic (
  operation TEXT NOT NULL,
  release INTEGER NOT NULL REFERENCES releases ON DELETE CASCADE,
  hour INTEGER NOT NULL,
  name TEXT NOT NULL,
  count INTEGER NOT NULL,
  PRIMARY KEY (operation, release, hour, name)
) STRICT, WITHOUT ROWID;
PRAGMA application_id = ${APPLICATION_ID};
PRAGMA user_version = ${TABLES_VERSION};
`;

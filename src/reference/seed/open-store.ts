import { mkdirSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { openSql, type Sql, TABLES } from '../store/sql.ts';
import { seedStore } from './seed-store.ts';

// Increase this number whenever the tables change. Existing database files are not migrated.
const LAYOUT = 1;

function fillWhenEmpty(sql: Sql, path: string, seed: number): void {
  const layout = sql.get<{ user_version: number }>('PRAGMA user_version')?.user_version;
  if (layout === LAYOUT) return;
  if (sql.get('SELECT 1 FROM sqlite_schema') !== undefined) {
    throw new Error(
      `${path} is not a database of this version of the reference server: delete it or choose another file`,
    );
  }
  sql.script(TABLES);
  seedStore(sql, seed);
  sql.script(`PRAGMA user_version = ${LAYOUT}`);
}

/**
 * Opens the store at a file path or `:memory:`, and seeds the store if it is empty. Throws if the file has other
 * content.
 */
export function openStore(path: string, seed: number): Sql {
  const inMemory = path === ':memory:';
  if (!inMemory) mkdirSync(dirname(resolve(path)), { recursive: true });
  const sql = openSql(path);
  try {
    if (!inMemory) sql.script('PRAGMA busy_timeout = 5000; PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;');
    // The check runs inside the transaction, because another process may be seeding the same file.
    sql.transaction(() => fillWhenEmpty(sql, path, seed));
    return sql;
  } catch (error) {
    sql.close();
    throw error;
  }
}

import { mkdirSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { seedStore } from '../seed/seed-store.ts';
import { openSql, type Sql } from './sql.ts';
import { TABLES } from './tables.ts';

/** Opens the store at a file path or `:memory:` and fills it, in one transaction, when it is empty. */
export function openStore(path: string, seed: number): Sql {
  const inMemory = path === ':memory:';
  if (!inMemory) mkdirSync(dirname(resolve(path)), { recursive: true });
  const sql = openSql(path);
  try {
    if (!inMemory) sql.script('PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA busy_timeout = 5000;');
    const empty = sql.get("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'sequences'") === undefined;
    if (empty) {
      sql.transaction(() => {
        sql.script(TABLES);
        seedStore(sql, seed);
      });
    }
    return sql;
  } catch (error) {
    sql.close();
    throw error;
  }
}

import type { Sql } from '../store/sql.ts';
import { SEED_START } from './seed-span.ts';
import { SPACE_NAMES } from './seed-words.ts';

/** Inserts the spaces; gives their ids, the first of the content pool. */
export function seedSpaces(sql: Sql): number[] {
  return SPACE_NAMES.map((name, index) => {
    const id = 11 + index;
    sql.run('INSERT INTO spaces VALUES (?, ?, ?, ?)', id, name, name.toLowerCase(), SEED_START);
    return id;
  });
}

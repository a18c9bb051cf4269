import type { SeededRandom } from '../../lib/seeded-random.ts';
import type { Sql } from '../store/sql.ts';
import { SEED_START, SPACE_NAMES, TOPIC_NAMES } from './seed-words.ts';

const FIRST_ID = 21;

/** Inserts the topics and returns their ids. Every fifth topic is the parent of the next four. */
export function seedTopics(sql: Sql, random: SeededRandom, users: readonly number[]): number[] {
  return TOPIC_NAMES.map((name, index) => {
    const id = FIRST_ID + index;
    const parent = index % 5 === 0 ? null : id - (index % 5);
    const createdAt = SEED_START + random.integer(1, 2_000_000) * 1000;
    sql.run('INSERT INTO topics VALUES (?, ?, ?, ?, ?, 0)', id, name, random.pick(users), parent, createdAt);
    return id;
  });
}

/** Inserts the spaces and returns their ids, which are the first ids in the content sequence. */
export function seedSpaces(sql: Sql): number[] {
  return SPACE_NAMES.map((name, index) => {
    const id = 11 + index;
    sql.run('INSERT INTO spaces VALUES (?, ?, ?, ?)', id, name, name.toLowerCase(), SEED_START);
    return id;
  });
}

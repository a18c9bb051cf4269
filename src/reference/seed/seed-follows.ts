import type { SeededRandom } from '../../lib/seeded-random.ts';
import type { Sql } from '../store/sql.ts';
import type { NodeDraft } from './node-draft.ts';
import { SEED_END, SEED_START } from './seed-span.ts';

const ACTIVE_SHARE = 0.8;

/** Inserts who follows which topic, node and user; each target has at least one active follower when it has any. */
export function seedFollows(
  sql: Sql,
  random: SeededRandom,
  seeded: {
    readonly users: readonly number[];
    readonly topics: readonly number[];
    readonly nodes: readonly NodeDraft[];
  },
): void {
  const insert = (kind: 'topic' | 'node' | 'user', targetId: number, followers: readonly number[]): void =>
    followers.forEach((follower, index) => {
      const active = index === 0 || random.chance(ACTIVE_SHARE) ? 1 : 0;
      const at = SEED_START + random.integer(0, (SEED_END - SEED_START) / 1000) * 1000;
      const text = 'INSERT INTO follows (follower_id, kind, target_id, active, created_at) VALUES (?, ?, ?, ?, ?)';
      sql.run(text, follower, kind, targetId, active, at);
    });
  for (const [index, id] of seeded.topics.entries()) {
    // One topic in eight has more followers than a page holds.
    insert('topic', id, random.sample(seeded.users, index % 8 === 0 ? 55 : random.integer(4, 20)));
  }
  for (const { id, type } of seeded.nodes) {
    if (type === 'question') insert('node', id, random.sample(seeded.users, random.integer(0, 5)));
    else if (type === 'idea' || type === 'kbentry')
      insert('node', id, random.sample(seeded.users, random.integer(0, 3)));
  }
  for (const id of seeded.users) {
    const others = seeded.users.filter((other) => other !== id);
    insert('user', id, random.sample(others, random.integer(0, 6)));
  }
}

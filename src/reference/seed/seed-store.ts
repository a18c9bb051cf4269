import { createSeededRandom } from '../../lib/seeded-random.ts';
import type { Sql } from '../store/sql.ts';
import { seedActions } from './seed-actions.ts';
import { seedAttachments, seedFollows, seedNodes } from './seed-nodes.ts';
import { draftContent } from './draft-content.ts';
import { seedGdprJobs } from './seed-gdpr-jobs.ts';
import { seedSpaces, seedTopics } from './seed-places.ts';
import { seedUsers } from './seed-users.ts';

/** Fills empty tables with content that depends only on the seed, not on the current time. */
export function seedStore(sql: Sql, seed: number): void {
  const random = createSeededRandom(seed);
  const users = seedUsers(sql, random);
  const spaces = seedSpaces(sql);
  const topics = seedTopics(sql, random, users);
  const nodes = draftContent(random, { users, spaces, topics });
  seedNodes(sql, random, nodes);
  const actions = seedActions(sql, random, { users, nodes });
  seedAttachments(sql, random, nodes);
  seedFollows(sql, random, { users, topics, nodes });
  const afterJobs = seedGdprJobs(sql);
  const lastContent = Math.max(...nodes.map(({ id }) => id));
  const next = { content: lastContent + 1, actions: actions + 1, revisions: 50_000, gdpr: afterJobs };
  for (const [name, value] of Object.entries(next))
    sql.run('INSERT INTO sequences (name, next) VALUES (?, ?)', name, value);
}

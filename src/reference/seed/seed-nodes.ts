import type { SeededRandom } from '../../lib/seeded-random.ts';
import { toSlug } from '../store/nodes.ts';
import type { Sql } from '../store/sql.ts';
import { type NodeDraft, rootOf } from './draft-content.ts';
import { SEED_END, SEED_START } from './seed-words.ts';

const INSERT = `INSERT INTO nodes (id, type, space_id, parent_id, root_id, author_id, title, slug, body, lang, created_at,
  last_active_at, last_active_user_id, last_edited_action, revision_ids, marked, wiki, score, up_votes, down_votes, views,
  reports, depth, states, visibility) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`;

// Greater than 2^53, to detect readers that round: ids on real servers are 64-bit integers.
const FIRST_LARGE_REVISION = 9_007_199_254_740_993n;

function depthOf(draft: NodeDraft): number {
  return draft.parent === undefined ? 0 : depthOf(draft.parent) + 1;
}

function revisionIds(random: SeededRandom, draft: NodeDraft): string {
  if (draft.visibility !== undefined) return `[${FIRST_LARGE_REVISION + BigInt(draft.id) * 2n}]`;
  return JSON.stringify(Array.from({ length: random.integer(1, 3) }, (_, index) => 10_000 + draft.id * 4 + index));
}

function insertNode(sql: Sql, random: SeededRandom, draft: NodeDraft): void {
  const up = random.integer(0, 12);
  const down = random.integer(0, 3);
  sql.run(
    INSERT,
    draft.id,
    draft.type,
    draft.spaceId,
    draft.parent?.id ?? null,
    rootOf(draft).id,
    draft.authorId,
    draft.title ?? null,
    draft.title === undefined ? null : toSlug(draft.title),
    draft.body,
    random.chance(0.9) ? 'en' : 'de',
    draft.at,
    draft.lastActiveAt,
    draft.lastActiveUserId,
    random.integer(1, 4000),
    revisionIds(random, draft),
    draft.marked ? 1 : 0,
    draft.wiki ? 1 : 0,
    up - down,
    up,
    down,
    random.integer(0, 900),
    random.chance(0.05) ? random.integer(1, 4) : 0,
    depthOf(draft),
    JSON.stringify(draft.states),
    draft.visibility ?? null,
  );
}

/** Inserts the drafted nodes with their topics and recipients, and counts the questions of each topic. */
export function seedNodes(sql: Sql, random: SeededRandom, drafts: readonly NodeDraft[]): void {
  for (const draft of drafts) {
    insertNode(sql, random, draft);
    draft.topics.forEach((topicId, position) =>
      sql.run('INSERT INTO node_topics VALUES (?, ?, ?)', draft.id, position, topicId),
    );
    for (const { kind, id } of draft.recipients) sql.run('INSERT INTO recipients VALUES (?, ?, ?)', draft.id, kind, id);
  }
  sql.script(`UPDATE topics SET used_count = (SELECT COUNT(*) FROM node_topics nt JOIN nodes n ON n.id = nt.node_id
    WHERE nt.topic_id = topics.id AND n.type = 'question')`);
}

const FILES = [
  ['server.log', 'text/plain', 'WARN  queue is full, waiting'],
  ['settings.json', 'application/json', '{"cache":true,"poolSize":20}'],
  ['screenshot.svg', 'image/svg+xml', '<svg xmlns="http://www.w3.org/2000/svg" width="8" height="8"></svg>'],
  ['users.csv', 'text/csv', 'username\njana.cerny\n'],
] as const;

/** Adds one or two attachments to some nodes of each type. */
export function seedAttachments(sql: Sql, random: SeededRandom, nodes: readonly NodeDraft[]): void {
  let id = 0;
  for (const node of nodes) {
    if (!random.chance(node.type === 'comment' ? 0.02 : 0.08)) continue;
    for (const [filename, mimeType, text] of random.sample(FILES, random.integer(1, 2))) {
      id += 1;
      const content = Buffer.from(`${text}\n`.repeat(mimeType === 'text/plain' ? random.integer(1, 40) : 1));
      sql.run('INSERT INTO attachments VALUES (?, ?, ?, ?, ?, ?)', id, node.id, filename, mimeType, content, node.at);
    }
  }
}

const ACTIVE_SHARE = 0.8;

/** Inserts the followers of topics, nodes and users. A target with followers has at least one active follower. */
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
    // One topic in eight has more followers than fit on a page.
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

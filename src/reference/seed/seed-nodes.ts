import type { SeededRandom } from '../../lib/seeded-random.ts';
import { toSlug } from '../render/to-slug.ts';
import type { Sql } from '../store/sql.ts';
import { rootOf, type NodeDraft } from './node-draft.ts';

const INSERT = `INSERT INTO nodes (id, type, space_id, parent_id, root_id, author_id, title, slug, body, lang, created_at,
  last_active_at, last_active_user_id, last_edited_action, revision_ids, marked, wiki, score, up_votes, down_votes, views,
  reports, depth, states, visibility) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`;

// Beyond 2^53: ids are 64-bit integers in the field, and a reader that rounds them must be found out.
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

/** Inserts the drafted nodes with their topics and recipients, and counts how often each topic was tagged on a question. */
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

import type { SeededRandom } from '../../lib/seeded-random.ts';
import { toSlug } from '../store/nodes.ts';
import type { Sql } from '../store/sql.ts';
import { type NodeDraft, rootOf, SEED_END, SEED_START } from './draft-content.ts';

const INSERT = `INSERT INTO nodes (id, type, space_id, parent_id, root_id, author_id, title, slug, body, lang, created_at,
  last_active_at, last_active_user_id, last_edited_action, revision_ids, marked, wiki, score, up_votes, down_votes, views,
  reports, depth, states, visibility) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`;

// This id is above 2^53, because ids on real servers are 64-bit integers and tests must detect clients that round them.
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

/** Inserts the followers of topics, nodes and users. Every target with followers has at least one active follower. */
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
    // One topic in eight has more followers than fit on one page.
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

interface ActionDraft {
  readonly verb: string;
  readonly userId: number;
  readonly node: NodeDraft;
  readonly at: number;
  readonly extra?: string;
  readonly canceled?: { readonly at: number; readonly by: number };
  /** True if the action created a favorite that still exists. */
  readonly favorite?: boolean;
}

const ACTIONS = 4000;
const ADMIN = 1;
const ALICE = 3;
const FAVORITES_OF = new Map([
  [ADMIN, 25],
  [2, 12],
  [ALICE, 20],
  [4, 12],
]);
const REASONS = ['Spam', 'Offensive', 'Duplicate of an older question', 'Not about this product'];

function after(random: SeededRandom, at: number): number {
  const secondsLeft = Math.floor((SEED_END - at) / 1000);
  return at + random.integer(1, Math.max(1, Math.min(86_400 * 20, secondsLeft))) * 1000;
}

function favorites(random: SeededRandom, users: readonly number[], questions: readonly NodeDraft[]): ActionDraft[] {
  const mark = (userId: number, node: NodeDraft): ActionDraft => ({
    verb: 'favorited',
    userId,
    node,
    at: after(random, node.at),
    favorite: true,
  });
  const unmark = (userId: number, node: NodeDraft): ActionDraft => {
    const at = after(random, node.at);
    return { verb: 'favorited', userId, node, at, canceled: { at: after(random, at), by: userId } };
  };
  return users.flatMap((userId) => {
    const remaining = FAVORITES_OF.get(userId) ?? random.integer(6, 18);
    const chosen = random.sample(questions, remaining + 8);
    return chosen.map((node, index) => (index < remaining ? mark(userId, node) : unmark(userId, node)));
  });
}

function wikifications(random: SeededRandom, nodes: readonly NodeDraft[]): ActionDraft[] {
  const wikified = nodes
    .filter(({ wiki }) => wiki)
    .map((node) => ({ verb: 'wikified', userId: node.authorId, node, at: after(random, node.at) }));
  const plain = nodes.filter(({ type, wiki }) => type === 'question' && !wiki);
  const undone = random.sample(plain, 20).map((node) => {
    const at = after(random, node.at);
    return { verb: 'wikified', userId: node.authorId, node, at, canceled: { at: after(random, at), by: ADMIN } };
  });
  return [...wikified, ...undone];
}

function moderation(
  random: SeededRandom,
  users: readonly number[],
  nodes: readonly NodeDraft[],
  count: number,
): ActionDraft[] {
  return Array.from({ length: count }, () => {
    const node = random.pick(nodes);
    const verb = random.pick(['accepted', 'accepted', 'reported', 'closed', 'locked']);
    const reasoned = verb === 'reported' || (verb === 'closed' && random.chance(0.5));
    const extra = reasoned ? { extra: random.pick(REASONS) } : {};
    return { verb, userId: random.pick(users), node, at: after(random, node.at), ...extra };
  });
}

function insertAction(sql: Sql, random: SeededRandom, id: number, action: ActionDraft): void {
  const { node, canceled } = action;
  const ip = `192.0.2.${random.integer(1, 254)}`;
  sql.run(
    'INSERT INTO actions VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)',
    id,
    action.verb,
    action.userId,
    node.id,
    node.type,
    ip,
    action.at,
    action.extra ?? null,
    node.visibility === undefined ? 0 : 1,
    canceled?.at ?? null,
    canceled?.by ?? null,
  );
  if (action.favorite === true) sql.run('INSERT INTO favorites VALUES (?, ?, ?)', action.userId, node.id, id);
}

/**
 * Inserts the action log, with ids in chronological order, and the favorites created by the actions. Returns the
 * highest id.
 */
export function seedActions(
  sql: Sql,
  random: SeededRandom,
  { users, nodes }: { readonly users: readonly number[]; readonly nodes: readonly NodeDraft[] },
): number {
  const written = nodes.filter(({ type }) => ['comment', 'ideacomment', 'idea'].includes(type));
  const commented = written.map((node) => ({
    verb: node.type === 'idea' ? 'suggested' : 'commented',
    userId: node.authorId,
    node,
    at: node.at,
  }));
  const questions = nodes.filter(({ type }) => type === 'question');
  // The guest has only the anonymous role and cannot have favorites.
  const members = users.filter((id) => id !== 5);
  const known: ActionDraft[] = [
    ...commented,
    ...favorites(random, members, questions),
    ...wikifications(random, nodes),
  ];
  const threads = nodes.filter(({ type }) => type === 'question' || type === 'answer');
  const all = [...known, ...moderation(random, members, threads, ACTIONS - known.length)];
  let last = 0;
  all
    .sort((one, other) => one.at - other.at)
    .forEach((action, index) => {
      // Each action gets a distinct time, because `moreResults` separates pages by time.
      last = Math.max(action.at, last + 1000);
      insertAction(sql, random, index + 1, { ...action, at: last });
    });
  return all.length;
}

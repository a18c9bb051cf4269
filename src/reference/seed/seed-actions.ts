import type { SeededRandom } from '../../lib/seeded-random.ts';
import type { Sql } from '../store/sql.ts';
import type { NodeDraft } from './draft-content.ts';
import { SEED_END } from './seed-words.ts';

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
 * Inserts the action log, with ids in chronological order, and the favorites that its actions created. Returns the
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
      // No two actions have the same time, because `moreResults` uses it to separate pages.
      last = Math.max(action.at, last + 1000);
      insertAction(sql, random, index + 1, { ...action, at: last });
    });
  return all.length;
}

import type { SeededRandom } from '../../lib/seeded-random.ts';
import { draftAuthor, draftBody } from './draft-text.ts';
import type { NodeDraft, PrivateVisibility } from './node-draft.ts';
import type { SeedRooms } from './seed-rooms.ts';

/** The nodes that seeded comments are written on. */
export interface Commentable {
  readonly questions: readonly NodeDraft[];
  readonly answers: readonly NodeDraft[];
  readonly ideas: readonly NodeDraft[];
  readonly articles: readonly NodeDraft[];
}

const PRIVATE_SHARE = 0.1;
const REPLIES = 220;
// moderator, alice and bob, among the recipients often enough that a caller of each kind has private comments to read.
const DEMO_RECIPIENTS = [2, 3, 4];
const GROUP_IDS = [1, 2, 3, 4, 5, 6, 7, 8];
const PRIVATE_AUTHORS = [1, 2, 3, 3];

// By position, not by chance: each option is sure to occur.
function privateOption(index: number): PrivateVisibility {
  if (index % 8 === 1) return 'originalPoster';
  return index % 8 === 5 ? 'moderators' : 'recipients';
}

function draftRecipients(random: SeededRandom, users: readonly number[]): NodeDraft['recipients'] {
  const user = random.chance(0.6) ? random.pick(DEMO_RECIPIENTS) : random.pick(users);
  const groups = random.sample(GROUP_IDS, random.integer(0, 2)).map((id) => ({ kind: 'group' as const, id }));
  return random.chance(0.8) || groups.length === 0 ? [...groups, { kind: 'user', id: user }] : groups;
}

function draftComment(random: SeededRandom, rooms: SeedRooms, parent: NodeDraft, index: number): NodeDraft {
  const isReply = parent.type === 'comment' || parent.type === 'ideacomment';
  const onIdea = parent.type === 'idea' || parent.type === 'ideacomment';
  const startsPrivate = !isReply && !onIdea && random.chance(PRIVATE_SHARE);
  const visibility = startsPrivate ? privateOption(index) : parent.visibility;
  const authorId =
    startsPrivate && random.chance(0.6) ? random.pick(PRIVATE_AUTHORS) : draftAuthor(random, rooms.users);
  const at = parent.at + random.integer(60, 86_400 * 5) * 1000;
  return {
    ...parent,
    type: onIdea ? 'ideacomment' : 'comment',
    at,
    authorId,
    parent,
    topics: [],
    title: undefined,
    body: draftBody(random),
    wiki: false,
    marked: false,
    states: [],
    visibility,
    // A reply inherits the visibility and the recipients of what it replies to.
    recipients: visibility === 'recipients' && !isReply ? draftRecipients(random, rooms.users) : parent.recipients,
    lastActiveAt: at,
    lastActiveUserId: authorId,
  };
}

/** Drafts comments on nodes of every type, the last of them replies to earlier ones. */
export function draftComments(random: SeededRandom, rooms: SeedRooms, on: Commentable, count: number): NodeDraft[] {
  const parents = [on.questions, on.answers, on.questions, on.answers, on.answers, on.ideas, on.articles];
  const comments = Array.from({ length: count - REPLIES }, (_, index) =>
    draftComment(random, rooms, random.pick(random.pick(parents)), index),
  );
  const secret = comments.filter(({ visibility }) => visibility !== undefined);
  const replies = Array.from({ length: REPLIES }, (_, index) =>
    draftComment(random, rooms, random.pick(random.chance(0.2) ? secret : comments), index),
  );
  return [...comments, ...replies];
}

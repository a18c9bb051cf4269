import type { SeededRandom } from '../../lib/seeded-random.ts';
import { draftComments } from './draft-comments.ts';
import { draftAuthor, draftBody, draftTitle } from './draft-text.ts';
import { rootOf, type NodeDraft } from './node-draft.ts';
import type { SeedRooms } from './seed-rooms.ts';
import { SEED_END, SEED_START } from './seed-span.ts';

const COUNTS = { question: 500, answer: 900, comment: 1500, idea: 120, kbentry: 60 } as const;
const WIKI_QUESTIONS = 48;
const FIRST_ID = 101;
const DAY_MS = 86_400_000;
const ALICE = 3;

type RootType = 'question' | 'idea' | 'kbentry';

function draftRoot(random: SeededRandom, rooms: SeedRooms, type: RootType, index: number): NodeDraft {
  const wiki =
    type === 'question' ? index % 10 === 4 && index < WIKI_QUESTIONS * 10 : type === 'kbentry' && index % 6 === 0;
  // Every fourth wiki question is alice's, so that the own-node rule has nodes to work on.
  const authorId = wiki && index % 40 === 4 ? ALICE : draftAuthor(random, rooms.users);
  // Nothing is asked in the last month, so that what follows it fits before the end of the history.
  const at =
    SEED_START + DAY_MS * 60 + random.integer(0, Math.floor((SEED_END - SEED_START) / 1000) - 95 * 86_400) * 1000;
  return {
    id: 0,
    type,
    at,
    authorId,
    parent: undefined,
    spaceId: random.pick(rooms.spaces),
    topics: random.sample(rooms.topics, type === 'question' && random.chance(0.1) ? 0 : random.integer(1, 4)),
    title: draftTitle(random, type),
    body: draftBody(random),
    wiki,
    marked: false,
    states: random.chance(0.06) ? ['closed'] : [],
    recipients: [],
    visibility: undefined,
    lastActiveAt: at,
    lastActiveUserId: authorId,
  };
}

function draftAnswer(random: SeededRandom, rooms: SeedRooms, question: NodeDraft): NodeDraft {
  const authorId = draftAuthor(random, rooms.users);
  const at = question.at + random.integer(600, 86_400 * 10) * 1000;
  const marked = !question.marked && random.chance(0.3);
  if (marked) question.marked = true;
  return {
    ...question,
    type: 'answer',
    at,
    authorId,
    parent: question,
    topics: [],
    title: undefined,
    body: draftBody(random),
    wiki: false,
    marked,
    states: [],
    lastActiveAt: at,
    lastActiveUserId: authorId,
  };
}

/** Drafts every node of the community in order of creation, with ids and last activity worked out. */
export function draftContent(random: SeededRandom, rooms: SeedRooms): NodeDraft[] {
  const roots = (type: RootType) =>
    Array.from({ length: COUNTS[type] }, (_, index) => draftRoot(random, rooms, type, index));
  const [questions, ideas, articles] = [roots('question'), roots('idea'), roots('kbentry')];
  // A quarter of the questions stays unanswered.
  const answerable = questions.filter((_, index) => index % 4 !== 1);
  const answers = Array.from({ length: COUNTS.answer }, () => draftAnswer(random, rooms, random.pick(answerable)));
  const comments = draftComments(random, rooms, { questions, answers, ideas, articles }, COUNTS.comment);
  const nodes = [...questions, ...ideas, ...articles, ...answers, ...comments].sort((one, other) => one.at - other.at);
  nodes.forEach((node, index) => {
    node.id = FIRST_ID + index;
    const root = rootOf(node);
    // Private activity does not show on the thread, or it would tell strangers that it took place.
    if (node.visibility === undefined && node.at >= root.lastActiveAt) {
      root.lastActiveAt = node.at;
      root.lastActiveUserId = node.authorId;
    }
  });
  return nodes;
}

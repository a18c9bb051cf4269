import { DAY_MS } from '../../lib/clock.ts';
import type { SeededRandom } from '../../lib/seeded-random.ts';

/** The subjects of seeded posts. */
const SUBJECTS = (
  'the login page, a nightly backup, the search index, a custom theme, the mail queue, an upgraded server, a ' +
  'private space, the user import, the REST interface, a reverse proxy, the rich text editor, a scheduled ' +
  'report'
).split(', ');

/** The problems that seeded posts describe. */
const PROBLEMS = (
  'stops after an hour, shows an empty page, is slower than before, loses its settings, rejects valid input, ' +
  'works only for administrators, fails behind two load balancers, repeats the same entry, ignores the time ' +
  'zone, needs a restart every week'
).split(', ');

/** Sentences used to fill seeded bodies. */
const SENTENCES = [
  'The log shows nothing unusual.',
  'We tried it on two machines with the same result.',
  'Clearing the cache helped for a day.',
  'It worked in the previous release.',
  'The documentation does not mention this case.',
  'Please check the permissions of the role first.',
  'A restart brings it back, but not for long.',
  'Our users noticed it last Monday.',
  'The same setting exists per space & per site.',
  'Has anybody seen this with <strong>more than 500</strong> users?',
];

/** The start of the seeded history, in epoch milliseconds. */
export const SEED_START = Date.UTC(2016, 2, 1, 8, 0, 0);

/**
 * The end of the seeded history, in epoch milliseconds. It is a fixed time, so that the same seed always produces the
 * same content.
 */
export const SEED_END = Date.UTC(2019, 1, 6, 15, 1, 0);

const COUNTS = { question: 500, answer: 900, comment: 1500, idea: 120, kbentry: 60 } as const;
const WIKI_QUESTIONS = 48;
const FIRST_ID = 101;
const ALICE = 3;

type RootType = 'question' | 'idea' | 'kbentry';

function draftRoot(random: SeededRandom, ids: SeedIds, type: RootType, index: number): NodeDraft {
  const wiki =
    type === 'question' ? index % 10 === 4 && index < WIKI_QUESTIONS * 10 : type === 'kbentry' && index % 6 === 0;
  // Every fourth wiki question belongs to alice, so that tests can check the rule about a caller's own nodes.
  const authorId = wiki && index % 40 === 4 ? ALICE : draftAuthor(random, ids.users);
  // No questions are created in the last few months before SEED_END, so that all answers and comments precede it.
  const at =
    SEED_START + DAY_MS * 60 + random.integer(0, Math.floor((SEED_END - SEED_START) / 1000) - 95 * 86_400) * 1000;
  return {
    id: 0,
    type,
    at,
    authorId,
    parent: undefined,
    spaceId: random.pick(ids.spaces),
    topics: random.sample(ids.topics, type === 'question' && random.chance(0.1) ? 0 : random.integer(1, 4)),
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

function draftAnswer(random: SeededRandom, ids: SeedIds, question: NodeDraft): NodeDraft {
  const authorId = draftAuthor(random, ids.users);
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

/** Drafts all nodes in order of creation, including their ids and last activity. */
export function draftContent(random: SeededRandom, ids: SeedIds): NodeDraft[] {
  const roots = (type: RootType) =>
    Array.from({ length: COUNTS[type] }, (_, index) => draftRoot(random, ids, type, index));
  const [questions, ideas, articles] = [roots('question'), roots('idea'), roots('kbentry')];
  // A quarter of the questions have no answers.
  const answerable = questions.filter((_, index) => index % 4 !== 1);
  const answers = Array.from({ length: COUNTS.answer }, () => draftAnswer(random, ids, random.pick(answerable)));
  const comments = draftComments(random, ids, { questions, answers, ideas, articles }, COUNTS.comment);
  const nodes = [...questions, ...ideas, ...articles, ...answers, ...comments].sort((one, other) => one.at - other.at);
  nodes.forEach((node, index) => {
    node.id = FIRST_ID + index;
    const root = rootOf(node);
    // Private activity does not update the thread, because an update would reveal the activity.
    if (node.visibility === undefined && node.at >= root.lastActiveAt) {
      root.lastActiveAt = node.at;
      root.lastActiveUserId = node.authorId;
    }
  });
  return nodes;
}

/** The nodes that seeded comments can belong to. */
interface Commentable {
  readonly questions: readonly NodeDraft[];
  readonly answers: readonly NodeDraft[];
  readonly ideas: readonly NodeDraft[];
  readonly articles: readonly NodeDraft[];
}

const PRIVATE_SHARE = 0.1;
const REPLIES = 220;
// The ids of moderator, alice and bob. Each receives enough private comments for tests.
const DEMO_RECIPIENTS = [2, 3, 4];
const GROUP_IDS = [1, 2, 3, 4, 5, 6, 7, 8];
const PRIVATE_AUTHORS = [1, 2, 3, 3];

// The options are chosen in turn rather than at random, so that every option occurs.
function privateOption(index: number): PrivateVisibility {
  if (index % 8 === 1) return 'originalPoster';
  return index % 8 === 5 ? 'moderators' : 'recipients';
}

function draftRecipients(random: SeededRandom, users: readonly number[]): NodeDraft['recipients'] {
  const user = random.chance(0.6) ? random.pick(DEMO_RECIPIENTS) : random.pick(users);
  const groups = random.sample(GROUP_IDS, random.integer(0, 2)).map((id) => ({ kind: 'group' as const, id }));
  return random.chance(0.8) || groups.length === 0 ? [...groups, { kind: 'user', id: user }] : groups;
}

function draftComment(random: SeededRandom, ids: SeedIds, parent: NodeDraft, index: number): NodeDraft {
  const isReply = parent.type === 'comment' || parent.type === 'ideacomment';
  const onIdea = parent.type === 'idea' || parent.type === 'ideacomment';
  const startsPrivate = !isReply && !onIdea && random.chance(PRIVATE_SHARE);
  const visibility = startsPrivate ? privateOption(index) : parent.visibility;
  const authorId = startsPrivate && random.chance(0.6) ? random.pick(PRIVATE_AUTHORS) : draftAuthor(random, ids.users);
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
    // A reply inherits the visibility and the recipients of its parent.
    recipients: visibility === 'recipients' && !isReply ? draftRecipients(random, ids.users) : parent.recipients,
    lastActiveAt: at,
    lastActiveUserId: authorId,
  };
}

/** Drafts comments on nodes of all types. The last of these comments are replies to earlier comments. */
function draftComments(random: SeededRandom, ids: SeedIds, on: Commentable, count: number): NodeDraft[] {
  const parents = [on.questions, on.answers, on.questions, on.answers, on.answers, on.ideas, on.articles];
  const comments = Array.from({ length: count - REPLIES }, (_, index) =>
    draftComment(random, ids, random.pick(random.pick(parents)), index),
  );
  const hidden = comments.filter(({ visibility }) => visibility !== undefined);
  const replies = Array.from({ length: REPLIES }, (_, index) =>
    draftComment(random, ids, random.pick(random.chance(0.2) ? hidden : comments), index),
  );
  return [...comments, ...replies];
}

// The ids of admin, moderator, alice and bob. The guest has no content.
const DEMO_AUTHORS = [1, 2, 3, 3, 4];
const FIRST_OTHER = 5;

/** Picks an author, sometimes one of the demo accounts. */
function draftAuthor(random: SeededRandom, users: readonly number[]): number {
  return random.chance(0.15) ? random.pick(DEMO_AUTHORS) : random.pick(users.slice(FIRST_OTHER));
}

/** Returns a title that suits the node's type. */
function draftTitle(random: SeededRandom, type: 'question' | 'idea' | 'kbentry'): string {
  const [subject, problem] = [random.pick(SUBJECTS), random.pick(PROBLEMS)];
  if (type === 'question') return `What to do when ${subject} ${problem}?`;
  if (type === 'idea') return `Warn early when ${subject} ${problem}`;
  return `How to: ${subject} ${problem}`;
}

/** Returns a body, which is usually HTML and sometimes plain text. */
function draftBody(random: SeededRandom): string {
  const sentences = random.sample(SENTENCES, random.integer(1, 4));
  if (random.chance(0.2)) return sentences.join(' ').replaceAll(/<\/?strong>/g, '');
  return sentences.map((sentence) => `<p>${sentence.replaceAll(' & ', ' &amp; ')}</p>`).join('');
}

/** The ids that seeded nodes refer to. */
interface SeedIds {
  readonly users: readonly number[];
  readonly spaces: readonly number[];
  readonly topics: readonly number[];
}

/** The private visibility option of a seeded comment. */
type PrivateVisibility = 'recipients' | 'originalPoster' | 'moderators';

/**
 * A node that has not been inserted yet. Ids are assigned in order of creation, so a parent's id is always lower than
 * its children's ids.
 */
export interface NodeDraft {
  id: number;
  readonly type: 'question' | 'answer' | 'comment' | 'idea' | 'ideacomment' | 'kbentry';
  readonly at: number;
  readonly authorId: number;
  readonly parent: NodeDraft | undefined;
  readonly spaceId: number;
  readonly topics: readonly number[];
  readonly title: string | undefined;
  readonly body: string;
  readonly wiki: boolean;
  marked: boolean;
  readonly states: readonly string[];
  readonly recipients: readonly { readonly kind: 'user' | 'group'; readonly id: number }[];
  readonly visibility: PrivateVisibility | undefined;
  lastActiveAt: number;
  lastActiveUserId: number;
}

/** Returns the first node in a draft's thread. */
export function rootOf(draft: NodeDraft): NodeDraft {
  return draft.parent === undefined ? draft : rootOf(draft.parent);
}

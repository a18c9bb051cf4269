/** The sizes of the measured pages. */
export type PageSize = '2k' | '29k' | '200k';

/** What a page contains: only documented fields, or two undocumented ones in addition. */
export interface Page {
  readonly size: PageSize;
  readonly undocumented: boolean;
}

/** The pages that the upstream serves. */
export const PAGES: readonly Page[] = [
  { size: '2k', undocumented: false },
  { size: '29k', undocumented: false },
  { size: '29k', undocumented: true },
  { size: '200k', undocumented: false },
];

/** Fields that the contract does not document: one in the page and one in each question. */
const UNDOCUMENTED = { page: { serverTime: 1_700_000_000_000 }, question: { reactionCount: 3 } };

/** The digits that the upstream replaces to make every body distinct. They occur only once in a page. */
export const STAMP = '000000000000';

/** The number of items, and of words per item, in a page of approximately the required size. */
const SHAPES: Readonly<Record<PageSize, { items: number; words: number }>> = {
  '2k': { items: 1, words: 74 },
  '29k': { items: 15, words: 87 },
  '200k': { items: 100, words: 95 },
};

const WORDS =
  'how can the index of a space be rebuilt when a node was moved while its revision is open and nobody follows it'.split(
    ' ',
  );

/** Returns a valid page of `question.json`. The first item's slug contains the stamp. */
export function questionPage(size: PageSize, { undocumented = false }: { undocumented?: boolean } = {}): Buffer {
  const { items, words } = SHAPES[size];
  const list = Array.from({ length: items }, (_, index) => ({
    ...question(index, words),
    ...(undocumented ? UNDOCUMENTED.question : {}),
  }));
  const page = {
    name: '',
    sort: 'newest',
    page: 1,
    pageSize: items,
    pageCount: 40,
    listCount: items,
    totalCount: items * 40,
    sorts: ['active', 'newest', 'hottest', 'votes'],
    ...(undocumented ? UNDOCUMENTED.page : {}),
    list,
  };
  return Buffer.from(JSON.stringify(page));
}

function question(index: number, words: number): object {
  const id = 41_000 + index * 17;
  const created = 1_700_000_000_000 + index * 86_400_000;
  const text = Array.from({ length: words }, (_, at) => WORDS[(at * 7 + index) % WORDS.length]).join(' ');
  return {
    id,
    type: 'question',
    creationDate: created,
    creationDateFormatted: '11/14/2023 10:13 PM',
    title: `Question ${id}: ${text.slice(0, 60)}`,
    body: text,
    bodyAsHTML: `<p>${text}</p>`,
    author: { id: 300 + index, username: `user${index}`, reputation: index * 11 },
    lastEditedAction: id + 1,
    activeRevisionId: id + 2,
    revisionIds: [id, id + 2],
    lastActiveUserId: 300 + index,
    lastActiveDate: created + 5000,
    originalParentId: null,
    attachments: [],
    childrenIds: [id + 3, id + 4],
    commentIds: [id + 5],
    marked: index % 2 === 0,
    topics: [topic(index), topic(index + 1)],
    primaryContainerId: 7,
    containerIds: [7],
    slug: index === 0 ? `question-${STAMP}` : `question-${id}`,
    wiki: false,
    score: index - 3,
    depth: 0,
    viewCount: index * 41,
    upVoteCount: index,
    downVoteCount: 0,
    nodeStates: [],
    answers: [],
    answerCount: 0,
  };
}

function topic(index: number): object {
  return {
    id: 900 + index,
    creationDate: 1_600_000_000_000,
    creationDateFormatted: '09/13/2020 12:26 PM',
    name: `topic-${index}`,
    author: { id: 300, username: 'user0', reputation: 12 },
    usedCount: index * 3,
  };
}

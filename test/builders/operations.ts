/** The ids that targets contain. */
export interface Ids {
  readonly job: string;
  readonly node: string;
  readonly issue: string;
  readonly comment: string;
  readonly group: string;
  readonly topic: string;
  readonly user: string;
  readonly answer: string;
}

/** The ids from the contract's examples. */
export const EXAMPLE_IDS: Ids = {
  job: '42',
  node: '118',
  issue: '10001',
  comment: '271',
  group: '7',
  topic: '33',
  user: '18',
  answer: '204',
};

const PAGING = ['page=2', 'pageSize=5', 'sort=votes'];
const PROJECTION = ['include=id', 'exclude=body', 'includeOnly=id,author.username'];
const VARIANTS = ['wrap=true', 'v1=true'];
const SEARCH = ['q=two+words*', 'type=question', 'lang=en'];
const FOLLOWING = ['details=true', 'active=false'];

/** A documented operation, and how the tests call it. */
export interface OperationCase {
  readonly id: string;
  readonly method: 'GET' | 'POST' | 'PUT';
  readonly target: (ids: Ids) => string;
  readonly body?: unknown;
  /** A demo account that may use the operation. */
  readonly allowed: string;
  /** An account that may not use the operation. Undefined if every known caller is allowed. */
  readonly denied?: string;
  readonly success: number;
  /**
   * The part to make invalid: either an id in the path, which is replaced with something other than a number, or the
   * query.
   */
  readonly badId?: keyof Ids;
  readonly badQuery?: string;
  /** The documented messages in the 400 and 403 responses. Undefined if there are none. */
  readonly text400?: string;
  readonly text403?: string;
  /** Query parameters with values that the operation accepts. */
  readonly accepts: readonly string[];
  /** True if the response does not depend on who asks, so that a service account can send the request. */
  readonly isIndependent?: true;
  /** True if responses contain `pageCount`. */
  readonly counted?: boolean;
  /** True if the operation accepts `pageSize`. */
  readonly paged?: boolean;
  /** True if a credential is required even when anonymous callers are allowed. */
  readonly needsCredential?: boolean;
  readonly cached?: boolean;
  /** The methods that the operation's path supports, as the `Allow` header lists them. */
  readonly allow: string;
  /** True if the operation is only inferred. With a real upstream, inferred operations are off. */
  readonly inferred?: boolean;
}

const V2 = '/services/v2';
const GET = 'GET, HEAD';

/** All operations in the contract, including the inferred ones. */
export const OPERATIONS: readonly OperationCase[] = [
  {
    id: 'uploadGdprFile',
    method: 'POST',
    target: () => `${V2}/users/gdpr/upload.json`,
    body: { content: 'username\nalice\n' },
    allowed: 'admin',
    denied: 'moderator',
    success: 201,
    badQuery: 'dryRun=true',
    text400: 'The provided file does not have a valid user.',
    needsCredential: true,
    allow: 'POST',
    accepts: [],
  },
  {
    id: 'getGdprJob',
    method: 'GET',
    target: ({ job }) => `${V2}/jobs/gdpr/${job}.json`,
    allowed: 'bob',
    success: 200,
    badId: 'job',
    text400: "The provided 'job id' is/are invalid",
    needsCredential: true,
    allow: GET,
    accepts: [],
  },
  {
    id: 'copyAttachments',
    method: 'POST',
    target: ({ node, issue }) => `${V2}/issuetracker/node/${node}/issue/${issue}/attachments.json`,
    allowed: 'admin',
    denied: 'alice',
    success: 200,
    badId: 'node',
    text403: "Attachments is disabled or you don't have permission to add attachments to this issue.",
    needsCredential: true,
    allow: 'POST',
    accepts: [],
  },
  {
    id: 'getComment',
    method: 'GET',
    target: ({ comment }) => `${V2}/comment/${comment}.json`,
    allowed: 'guest',
    denied: 'nobody',
    success: 200,
    badId: 'comment',
    allow: 'GET, HEAD, PUT',
    accepts: [...PROJECTION, ...VARIANTS],
  },
  {
    id: 'listNodeComments',
    method: 'GET',
    target: ({ node }) => `${V2}/node/${node}/comment.json`,
    allowed: 'guest',
    denied: 'nobody',
    success: 200,
    badId: 'node',
    allow: 'GET, HEAD, POST',
    accepts: [],
  },
  {
    id: 'listQuestions',
    method: 'GET',
    target: () => `${V2}/question.json`,
    allowed: 'guest',
    denied: 'nobody',
    success: 200,
    badQuery: 'spaceId=five',
    counted: true,
    paged: true,
    cached: true,
    allow: GET,
    accepts: ['topics=a,b', 'unanswered=true', 'spaceId=5', ...PAGING, ...SEARCH, ...PROJECTION, ...VARIANTS],
    isIndependent: true,
  },
  {
    id: 'listActions',
    method: 'GET',
    target: () => `${V2}/action.json`,
    allowed: 'admin',
    denied: 'moderator',
    success: 200,
    badQuery: 'page=first',
    paged: true,
    allow: GET,
    accepts: [...PAGING, ...PROJECTION, ...VARIANTS],
  },
  {
    id: 'listIdeas',
    method: 'GET',
    target: () => `${V2}/idea.json`,
    allowed: 'bob',
    denied: 'guest',
    success: 200,
    badQuery: 'colour=blue',
    counted: true,
    paged: true,
    cached: true,
    allow: GET,
    accepts: [...SEARCH, ...PROJECTION, ...PAGING, ...VARIANTS],
    isIndependent: true,
  },
  {
    id: 'listGroupUsers',
    method: 'GET',
    target: ({ group }) => `${V2}/group/${group}/user.json`,
    allowed: 'admin',
    denied: 'alice',
    success: 200,
    badId: 'group',
    counted: true,
    paged: true,
    cached: true,
    allow: GET,
    accepts: [...PAGING, ...PROJECTION, ...VARIANTS],
    isIndependent: true,
  },
  {
    id: 'listTopicFollowers',
    method: 'GET',
    target: ({ topic }) => `${V2}/topic/${topic}/followers.json`,
    allowed: 'guest',
    denied: 'nobody',
    success: 200,
    badQuery: 'details=maybe',
    counted: true,
    paged: true,
    cached: true,
    allow: GET,
    accepts: [...FOLLOWING, ...PAGING, ...PROJECTION, ...VARIANTS],
    isIndependent: true,
  },
  {
    id: 'unmarkFavorite',
    method: 'PUT',
    target: ({ node }) => `${V2}/node/${node}/unmarkfavorite.json`,
    allowed: 'alice',
    denied: 'guest',
    success: 200,
    badQuery: 'page=1',
    needsCredential: true,
    allow: 'PUT',
    accepts: ['wrap=true'],
  },
  {
    id: 'cancelWiki',
    method: 'PUT',
    target: ({ node }) => `${V2}/node/${node}/cancelwiki.json`,
    allowed: 'moderator',
    denied: 'guest',
    success: 200,
    badId: 'node',
    needsCredential: true,
    allow: 'PUT',
    accepts: ['wrap=true'],
  },
  {
    id: 'listArticles',
    method: 'GET',
    target: () => `${V2}/article.json`,
    allowed: 'alice',
    denied: 'guest',
    success: 200,
    badQuery: 'pageSize=many',
    counted: true,
    paged: true,
    cached: true,
    allow: GET,
    accepts: ['page=2', 'pageSize=5', ...VARIANTS],
    isIndependent: true,
  },
  {
    id: 'listNodeFollowers',
    method: 'GET',
    target: ({ node }) => `${V2}/node/${node}/followers.json`,
    allowed: 'guest',
    denied: 'nobody',
    success: 200,
    badQuery: 'active=2',
    counted: true,
    paged: true,
    cached: true,
    allow: GET,
    accepts: [...FOLLOWING, ...PAGING, ...PROJECTION, ...VARIANTS],
    isIndependent: true,
  },
  {
    id: 'listExpertise',
    method: 'GET',
    target: ({ user }) => `${V2}/user/${user}/expertise.json`,
    allowed: 'guest',
    denied: 'nobody',
    success: 200,
    badId: 'user',
    counted: true,
    paged: true,
    cached: true,
    allow: GET,
    accepts: ['page=2', 'pageSize=5', ...VARIANTS],
    isIndependent: true,
  },
  {
    id: 'listAnswerComments',
    method: 'GET',
    target: ({ answer }) => `${V2}/answer/${answer}/comment.json`,
    allowed: 'guest',
    denied: 'nobody',
    success: 200,
    badId: 'answer',
    counted: true,
    paged: true,
    cached: true,
    allow: GET,
    accepts: ['page=2', 'pageSize=5', ...VARIANTS],
  },
  {
    id: 'updateComment',
    method: 'PUT',
    target: ({ comment }) => `${V2}/comment/${comment}.json`,
    body: { body: 'Changed my mind.' },
    allowed: 'alice',
    denied: 'nobody',
    success: 200,
    badId: 'comment',
    needsCredential: true,
    allow: 'GET, HEAD, PUT',
    inferred: true,
    accepts: [],
  },
  {
    id: 'createComment',
    method: 'POST',
    target: ({ node }) => `${V2}/node/${node}/comment.json`,
    body: { body: 'Could you add the log?' },
    allowed: 'alice',
    denied: 'nobody',
    success: 201,
    badId: 'node',
    needsCredential: true,
    allow: 'GET, HEAD, POST',
    inferred: true,
    accepts: [],
  },
];

/** The operations that are on with a real upstream: all except the inferred ones. */
export const OBSERVED_OPERATIONS = OPERATIONS.filter(({ inferred }) => inferred !== true);

/** The operations that `portico check` covers with a real upstream. */
export const SAFE_OPERATIONS = OBSERVED_OPERATIONS.filter(({ method }) => method === 'GET');

/** The operations that `portico check` can cover without `--id`. No list contains job ids. */
export const WALKED_OPERATIONS = SAFE_OPERATIONS.filter(({ id }) => id !== 'getGdprJob');

/** Returns the operation with the given id. */
export function operationOf(id: string): OperationCase {
  const found = OPERATIONS.find((operation) => operation.id === id);
  if (found === undefined) throw new Error(`no operation ${id}`);
  return found;
}

/** Returns a target for the operation. `query` does not include the question mark. */
export function targetOf(operation: OperationCase, query = '', ids: Ids = EXAMPLE_IDS): string {
  const target = operation.target(ids);
  return query === '' ? target : `${target}?${query}`;
}

/** Returns a target for the operation, with invalid parameters. */
export function badTargetOf(operation: OperationCase, ids: Ids = EXAMPLE_IDS): string {
  const { badId, badQuery } = operation;
  return targetOf(operation, badQuery, badId === undefined ? ids : { ...ids, [badId]: 'abc' });
}

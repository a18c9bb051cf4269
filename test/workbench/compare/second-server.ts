/* oxlint-disable oxc/no-map-spread -- rows become JSON, once per request */
import { createHash } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { DatabaseSync } from 'node:sqlite';

/*
 * A second implementation of the API, for tests of the comparison. It shares nothing with the reference server but its
 * data, which it reads once from the database file and keeps in arrays. It does everything in another way that means the
 * same: other ids, another order of members, other forms of dates and numbers, its own host in addresses, `slug` for
 * `plug`, another error shape, another order of items with equal sort keys, and views that are counted with each request.
 */

/** How much higher its ids are than those of the reference server. */
export const OFFSET = 100_000;

type Row = Readonly<Record<string, string | number | null | Uint8Array>>;
type Json = Record<string, unknown>;

/** The response to a request. */
export interface SecondResponse {
  readonly status: number;
  readonly type: string | undefined;
  readonly text: string;
}

/** The running server. */
export interface SecondServer {
  readonly url: string;
  /** Responds to a request without a socket. */
  respond(target: string, authorization: string | undefined): SecondResponse;
  /** Changes every following response to a successful request. */
  spoil: ((target: string, json: Json) => unknown) | undefined;
  /** Set if private comments are shown to everybody, which is a fault. */
  showsPrivate: boolean;
  close(): Promise<void>;
}

const ROLES: Readonly<Record<string, string>> = {
  anonymous: 'list page users profile',
  standard: 'list page users profile',
  custom: 'ideas articles',
  'site administration': 'analytics groups',
  'private comments': 'private send',
  'private comments to moderators': 'private send',
};

interface Asker {
  readonly id: number;
  readonly isKnown: boolean;
  readonly isAdmin: boolean;
  readonly isModerator: boolean;
  readonly may: (what: string) => boolean;
  readonly groups: ReadonlySet<number>;
}

class Refused extends Error {
  readonly response: SecondResponse;
  constructor(status: number, message: string | undefined) {
    super('refused');
    const text = message === undefined ? '' : JSON.stringify({ error: message });
    this.response = { status, type: message === undefined ? undefined : 'application/json', text };
  }
}

const denied = () => new Refused(401, 'You don&#39;t have permission to do this action. Please login as another user');

const two = (value: number) => String(value).padStart(2, '0');
const isoMinutes = (at: number) => `${new Date(at).toISOString().slice(0, 16)}Z`;
const offsetDate = (at: number) => `${new Date(at + 3_600_000).toISOString().slice(0, 19)}+01:00`;

/** Loads the data and listens. The clock is not needed, because nothing but views changes. */
export async function startSecondServer(file: string): Promise<SecondServer> {
  const data = load(file);
  const views = new Map<number, number>();
  let spoil: SecondServer['spoil'];
  const faults = { showsPrivate: false };
  let url = '';
  const respond = (target: string, authorization: string | undefined): SecondResponse => {
    try {
      const json = route({ ...data, ...faults }, views, url, target, askerOf(data, authorization));
      const changed = spoil === undefined ? json : spoil(target, json as Json);
      return { status: 200, type: 'application/json', text: write(changed) };
    } catch (error) {
      if (error instanceof Refused) return error.response;
      throw error;
    }
  };
  const server: Server = createServer((request, response) => {
    const { status, type, text } = respond(request.url ?? '/', request.headers.authorization);
    // A missing permission is no reason to ask for another credential.
    const isChallenge = status === 401 && !text.includes('permission');
    const headers = {
      ...(type !== undefined && { 'content-type': type }),
      ...(isChallenge && { 'WWW-Authenticate': 'basic realm="Second"' }),
    };
    response.writeHead(status, headers).end(text);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url,
    respond,
    get showsPrivate() {
      return faults.showsPrivate;
    },
    set showsPrivate(isOn) {
      faults.showsPrivate = isOn;
    },
    get spoil() {
      return spoil;
    },
    set spoil(change) {
      spoil = change;
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** Writes JSON with the members in reverse alphabetical order, and some numbers with a fraction of zero. */
function write(json: unknown): string {
  const text = JSON.stringify(json, (_key, value: unknown) => {
    if (typeof value === 'bigint')
      return (JSON as unknown as { rawJSON(text: string): unknown }).rawJSON(String(value));
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
    if (Object.getPrototypeOf(value) !== Object.prototype) return value;
    return Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? 1 : -1)));
  });
  return text.replaceAll(/"depth":(\d+)(?=[,}])/g, '"depth":$1.0');
}

function load(file: string) {
  const database = new DatabaseSync(file, { readOnly: true });
  const all = (table: string): Row[] => database.prepare(`SELECT * FROM ${table}`).all() as Row[];
  const names = ['users', 'user_roles', 'groups', 'group_members', 'topics', 'nodes', 'node_topics', 'recipients'];
  const more = ['attachments', 'actions', 'favorites', 'follows', 'gdpr_jobs', 'gdpr_executions'];
  const tables = Object.fromEntries([...names, ...more].map((name) => [name, all(name)])) as Record<string, Row[]>;
  database.close();
  const table = (name: string) => tables[name] ?? [];
  const by = (name: string, column: string) => Map.groupBy(table(name), (row) => row[column]);
  return {
    table,
    user: new Map(table('users').map((row) => [row['id'], row])),
    node: new Map(table('nodes').map((row) => [row['id'], row])),
    topic: new Map(table('topics').map((row) => [row['id'], row])),
    group: new Map(table('groups').map((row) => [row['id'], row])),
    children: by('nodes', 'parent_id'),
    posts: by('nodes', 'author_id'),
    tags: by('node_topics', 'node_id'),
    files: by('attachments', 'node_id'),
    readers: by('recipients', 'node_id'),
    members: by('group_members', 'user_id'),
    likes: by('favorites', 'node_id'),
    follows: by('follows', 'follower_id'),
    followers: Map.groupBy(table('follows'), (row) => `${String(row['kind'])} ${String(row['target_id'])}`),
  };
}

type Data = ReturnType<typeof load> & { readonly showsPrivate?: boolean };

function askerOf(data: Data, authorization: string | undefined): Asker {
  const nobody = { id: 0, isKnown: false, isAdmin: false, isModerator: false, groups: new Set<number>() };
  const words = (roles: readonly string[]) => new Set(roles.flatMap((role) => (ROLES[role] ?? '').split(' ')));
  if (authorization === undefined) return { ...nobody, may: (what) => words(['anonymous']).has(what) };
  const [name = '', password = ''] = Buffer.from(authorization.slice(6), 'base64').toString().split(':');
  const user = data.table('users').find((row) => row['username'] === name);
  const hash = createHash('sha256')
    .update(`${String(user?.['id'])}:${password}`)
    .digest('hex');
  if (user === undefined || hash !== user['password_hash']) throw new Refused(401, 'Bad credentials');
  const id = Number(user['id']);
  const own = words(data.table('user_roles').flatMap((row) => (row['user_id'] === id ? [String(row['role'])] : [])));
  return {
    id,
    isKnown: true,
    isAdmin: user['admin'] === 1 || user['superuser'] === 1,
    isModerator: user['moderator'] === 1,
    may: (what) => user['superuser'] === 1 || own.has(what),
    groups: new Set((data.members.get(id) ?? []).map((row) => Number(row['group_id']))),
  };
}

function demand(isMet: boolean): void {
  if (!isMet) throw denied();
}

function route(data: Data, views: Map<number, number>, url: string, target: string, asker: Asker): unknown {
  const { pathname, searchParams: query } = new URL(target, 'http://any');
  const [, what = ''] = /^\/services\/v2\/(.*)\.json$/.exec(pathname) ?? [];
  const [first = '', raw = '', last] = what.split('/');
  const show = createShow(data, views, url, asker);
  const id = (text: string, name: string): number => {
    if (!/^\d{1,19}$/.test(text)) throw new Refused(400, `The provided '${name}' is/are invalid`);
    return Number(text) - OFFSET;
  };
  const node = (name: string, ...types: string[]): Row => {
    const found = data.node.get(id(raw, name));
    if (found === undefined || (types.length > 0 && !types.includes(String(found['type']))))
      throw new Refused(404, 'not found');
    demand(show.isVisible(found));
    return found;
  };
  const nodesOf = (types: readonly string[], toItem: (row: Row) => Json, parent?: Row, sorts = 'active') =>
    nodeList(data, views, query, show, { types, toItem, parent, defaultSort: sorts });
  const pathOnly = last === undefined ? first : `${first}/${last}`;
  switch (raw === '' ? first : pathOnly) {
    case 'question':
      demand(asker.may('list'));
      return nodesOf(['question'], show.node);
    case 'article':
      demand(asker.may('articles'));
      return nodesOf(['kbentry'], show.node);
    case 'idea':
      demand(asker.may('ideas'));
      return nodesOf(['idea'], show.idea);
    case 'comment': {
      demand(asker.may('page'));
      return pick(show.node(node('comment id', 'comment', 'ideacomment')), query);
    }
    case 'node/comment': {
      demand(asker.may('page'));
      const below = show.below(node('node id')).filter(isComment);
      return below
        .toSorted((a, b) => Number(a['created_at']) - Number(b['created_at']) || Number(a['id']) - Number(b['id']))
        .map(show.node);
    }
    case 'answer/comment':
      demand(asker.may('page'));
      return nodesOf(['comment'], show.node, node('answer id', 'answer'), '');
    case 'action':
      if (!asker.isKnown) throw new Refused(401, undefined);
      demand(asker.may('analytics'));
      demand([...asker.groups].some((group) => data.group.get(group)?.['name'] === 'Super Users'));
      return actionList(data, query, show);
    case 'group/user': {
      if (!asker.isKnown) throw new Refused(401, undefined);
      demand(asker.may('groups'));
      const group = id(raw, 'group id');
      if (!data.group.has(group)) throw new Refused(404, 'not found');
      const isMember = (user: Row) =>
        data.members.get(user['id'] ?? 0)?.some((row) => row['group_id'] === group) === true;
      return peopleList(data.table('users').filter(isMember), query, show.user);
    }
    case 'topic/followers':
    case 'node/followers': {
      demand(asker.may('users'));
      const isTopic = first === 'topic';
      const of = isTopic ? id(raw, 'topic id') : Number(node('node id')['id']);
      if (isTopic && !data.topic.has(of)) throw new Refused(404, 'not found');
      return followerList(data, query, show, isTopic ? 'topic' : 'node', of);
    }
    case 'user/expertise': {
      demand(asker.may('profile'));
      const user = id(raw, 'user id');
      if (!data.user.has(user)) throw new Refused(404, 'not found');
      const answered = new Set(
        (data.posts.get(user) ?? []).flatMap((row) => (row['type'] === 'answer' ? [row['parent_id']] : [])),
      );
      const topics = new Set(
        [...answered].flatMap((one) => (data.tags.get(one ?? 0) ?? []).map((row) => row['topic_id'])),
      );
      const rows = [...topics].flatMap((one): Row[] => {
        const found = data.topic.get(one ?? 0);
        return found === undefined ? [] : [found];
      });
      const sorted = rows.toSorted(
        (a, b) => Number(b['used_count']) - Number(a['used_count']) || Number(a['id']) - Number(b['id']),
      );
      return envelope(sorted, query, { first: 1, size: 35, sort: '', toItem: show.listedTopic });
    }
    default: {
      const [, job] = /^jobs\/gdpr\/([^/]*)$/.exec(what) ?? [];
      if (job === undefined) throw new Refused(404, 'not found');
      if (!asker.isKnown) throw new Refused(401, undefined);
      const found = data.table('gdpr_jobs').find((row) => row['id'] === id(job, 'job id'));
      if (found === undefined) throw new Refused(404, 'not found');
      return show.job(found);
    }
  }
}

const isComment = ({ type }: Row) => type === 'comment' || type === 'ideacomment';
const shifted = (id: unknown) => (id === null ? null : Number(id) + OFFSET);

/** Creates the functions that turn rows into JSON, for one caller. */
function createShow(data: Data, views: ReadonlyMap<number, number>, url: string, asker: Asker) {
  const isVisible = (row: Row): boolean => {
    const { visibility, author_id: author, id, root_id: root } = row;
    if (visibility === null || asker.isAdmin || data.showsPrivate === true) return true;
    if (!asker.isKnown) return false;
    if (author === asker.id || (visibility === 'moderators' && asker.isModerator)) return true;
    if (visibility === 'originalPoster' && data.node.get(root ?? 0)?.['author_id'] === asker.id) return true;
    return (data.readers.get(id ?? 0) ?? []).some(({ kind, recipient_id: reader }) =>
      kind === 'user' ? reader === asker.id : asker.groups.has(Number(reader)),
    );
  };
  const below = (row: Row): Row[] =>
    (data.children.get(row['id'] ?? 0) ?? []).filter(isVisible).toSorted((a, b) => Number(a['id']) - Number(b['id']));
  const dates = (at: unknown) => ({ creationDate: at, creationDateFormatted: isoMinutes(Number(at)) });
  const picture = (email: unknown) =>
    `http://community.example.org/avatars/${createHash('md5').update(String(email).trim().toLowerCase()).digest('hex')}.png`;
  const author = (id: unknown): Json => {
    const user = data.user.get(id as number);
    return { id: shifted(id), username: user?.['username'], reputation: user?.['reputation'] };
  };
  const topic = (row: Row): Json => ({
    ...dates(row['created_at']),
    id: shifted(row['id']),
    name: row['name'],
    author: author(row['author_id']),
    usedCount: row['used_count'],
  });
  const common = (row: Row): Json => {
    const children = below(row);
    const body = String(row['body']);
    const html = body.startsWith('<')
      ? body
      : `<p>${body.replaceAll('&', '&#38;').replaceAll('<', '&#60;').replaceAll('>', '&#62;').replaceAll("'", '&#39;')}</p>`;
    const revisions = (String(row['revision_ids']).match(/\d+/g) ?? []).map((one) => BigInt(one) + BigInt(OFFSET));
    const tags = (data.tags.get(row['id'] ?? 0) ?? []).toSorted(
      (a, b) => Number(a['position']) - Number(b['position']),
    );
    return {
      ...dates(row['created_at']),
      type: row['type'],
      body,
      bodyAsHTML: `\n  ${html}\n`,
      lastEditedAction: shifted(row['last_edited_action']),
      activeRevisionId: revisions.at(-1),
      revisionIds: revisions,
      lastActiveUserId: shifted(row['last_active_user_id']),
      lastActiveDate: row['last_active_at'],
      originalParentId: shifted(row['parent_id']),
      attachments: (data.files.get(row['id'] ?? 0) ?? []).map((file) => ({
        ...dates(file['created_at']),
        id: shifted(file['id']),
        name: file['filename'],
        size: (file['content'] as Uint8Array).byteLength,
        mimeType: file['mime_type'],
        url: `${url}/storage/attachments/${shifted(file['id'])}-${encodeURIComponent(String(file['filename']))}`,
      })),
      childrenIds: children.map((child) => shifted(child['id'])),
      commentIds: children.filter(isComment).map((child) => shifted(child['id'])),
      marked: row['marked'] === 1,
      topics: tags.map((tag) => topic(data.topic.get(tag['topic_id'] ?? 0) ?? {})),
      containerIds: isComment(row) || row['space_id'] === null ? [] : [shifted(row['space_id'])],
      wiki: row['wiki'] === 1,
      score: row['score'],
      depth: row['depth'],
      nodeStates: JSON.parse(String(row['states'])) as unknown,
    };
  };
  const node = (row: Row): Json => {
    const isTitled = row['type'] === 'question' || row['type'] === 'kbentry' || row['type'] === 'idea';
    const answering = below(row).filter(({ type }) => type === 'answer');
    const mayRead = asker.may('private') && asker.may('send') && row['visibility'] !== null;
    return {
      ...common(row),
      id: shifted(row['id']),
      author: author(row['author_id']),
      viewCount: Number(row['views']) + (views.get(Number(row['id'])) ?? 0),
      upVoteCount: row['up_votes'],
      downVoteCount: row['down_votes'],
      ...(isTitled && { title: row['title'], slug: row['slug'], primaryContainerId: shifted(row['space_id']) }),
      ...(row['type'] === 'question' && {
        answers: answering.map((one) => shifted(one['id'])),
        answerCount: answering.length,
      }),
      ...(mayRead && { visibility: row['visibility'] }),
      ...(mayRead && row['visibility'] === 'recipients' && { recipients: recipients(row) }),
    };
  };
  const recipients = (row: Row): Json[] => {
    const all = (data.readers.get(row['id'] ?? 0) ?? []).map(({ kind, recipient_id: id }) => ({
      id: shifted(id),
      type: kind,
      name: kind === 'group' ? data.group.get(id ?? 0)?.['name'] : data.user.get(id ?? 0)?.['username'],
    }));
    return all.toSorted((a, b) =>
      String(a.type) < String(b.type) ? -1 : a.type === b.type ? Number(a.id) - Number(b.id) : 1,
    );
  };
  const user = (row: Row): Json => {
    const { id } = row;
    const isActive = (one: Row) => one['active'] === 1;
    const own = (data.follows.get(id ?? 0) ?? []).filter(isActive);
    const groups = (data.members.get(id ?? 0) ?? []).map((one) => data.group.get(one['group_id'] ?? 0) ?? {});
    return {
      ...dates(row['created_at']),
      id: shifted(id),
      type: 'user',
      modificationDate: row['modified_at'],
      username: row['username'],
      ...(row['realname'] !== null && { realname: row['realname'] }),
      slug: String(row['username']).replaceAll('.', '-'),
      gold: row['gold'],
      silver: row['silver'],
      bronze: row['bronze'],
      reputation: row['reputation'],
      moderator: row['moderator'] === 1,
      superuser: row['superuser'] === 1,
      avatar: picture(row['email']),
      postCount: (data.posts.get(id ?? 0) ?? []).length,
      followerCount: (data.followers.get(`user ${String(id)}`) ?? []).filter(isActive).length,
      followCount: own.filter((one) => one['kind'] !== 'user').length,
      userFollowCount: own.filter((one) => one['kind'] === 'user').length,
      active: row['active'] === 1,
      suspended: row['suspended'] === 1,
      deactivated: row['deactivated'] === 1,
      groups: groups
        .toSorted((a, b) => Number(a['id']) - Number(b['id']))
        .map((group) => ({
          ...dates(group['created_at']),
          id: String(shifted(group['id'])),
          modificationDate: group['modified_at'],
          name: group['name'],
        })),
    };
  };
  const actor = (id: unknown): Json => {
    const found = data.user.get(id as number);
    return { id: shifted(id), username: found?.['username'], avatarUrl: picture(found?.['email']) };
  };
  return {
    isVisible,
    below,
    node,
    user,
    idea: (row: Row): Json => {
      const found = data.user.get(row['author_id'] ?? 0);
      const isEven = Number(row['author_id']) % 2 === 0;
      const hash = createHash('md5').update(String(found?.['email']).trim().toLowerCase()).digest('hex');
      const { topics, ...rest } = common(row);
      return {
        ...rest,
        // A number for a text, and another name for `plug`.
        id: shifted(row['id']),
        title: row['title'],
        author: {
          ...author(row['author_id']),
          realname: found?.['realname'] ?? null,
          avatar: picture(found?.['email']),
          ...(isEven && { emailHash: hash }),
        },
        parentId: null,
        parentAuthor: null,
        topics: (topics as Json[]).map(({ name }) => name),
        primaryContainerId: shifted(row['space_id']),
        slug: row['slug'],
        reportCount: row['reports'],
      };
    },
    listedTopic: (row: Row): Json => ({
      ...topic(row),
      getImmediateChildren: data
        .table('topics')
        .filter((one) => one['parent_id'] === row['id'])
        .map((one) => shifted(one['id']))
        .toSorted((a, b) => Number(a) - Number(b)),
      getParents: row['parent_id'] === null ? [] : [shifted(row['parent_id'])],
    }),
    action: (row: Row): Json => ({
      id: shifted(row['id']),
      ip: row['ip'],
      user: actor(row['user_id']),
      actionDate: offsetDate(Number(row['acted_at'])),
      canceled: row['canceled_at'] !== null,
      ...(row['canceled_at'] !== null && {
        canceledByUser: actor(row['canceled_by'] ?? row['user_id']),
        canceledDate: new Date(Number(row['canceled_at'])).toUTCString(),
      }),
      extra: row['extra'],
      private: row['private'] === 1,
      verb: row['verb'],
      node: { id: shifted(row['node_id']), type: row['node_type'] },
    }),
    job: (row: Row): Json => {
      const at = new Date(Number(row['due_at']));
      const shown = {
        id: shifted(row['id']),
        scheduleTime: `${at.getUTCFullYear()}-${two(at.getUTCMonth() + 1)}-${two(at.getUTCDate())} ${two(at.getUTCHours())}:${two(at.getUTCMinutes())}`,
        operations: row['operations'],
        userId: shifted(row['user_id']),
        status: row['finished_at'] === null ? 'PENDING' : 'FINISHED',
      };
      if (row['finished_at'] === null) return shown;
      const executions = data.table('gdpr_executions').filter((one) => one['job_id'] === row['id']);
      return {
        ...shown,
        executions: executions.map((one) => ({
          userId: shifted(one['user_id']),
          executionStatus: one['status'],
          executionURL: `${url}/services/v2/users/gdpr/execution/${shifted(one['id'])}/status.json`,
        })),
      };
    },
  };
}

type Show = ReturnType<typeof createShow>;

interface PageOf {
  readonly first: 0 | 1;
  readonly size: number;
  readonly sort: string;
  readonly sorts?: readonly string[];
  readonly toItem: (row: Row) => Json;
}

function numberIn(query: URLSearchParams, name: string): number | undefined {
  const text = query.get(name) ?? '';
  return /^\d{1,9}$/.test(text) ? Number(text) : undefined;
}

function pageIn(query: URLSearchParams, first: number, size: number) {
  const asked = numberIn(query, 'pageSize') ?? 0;
  const pageSize = asked === 0 ? size : asked;
  const page = Math.max(first, numberIn(query, 'page') ?? first);
  return { page, pageSize, from: (page - first) * pageSize };
}

function envelope(rows: readonly Row[], query: URLSearchParams, { first, size, sort, sorts, toItem }: PageOf): Json {
  const { page, pageSize, from } = pageIn(query, first, size);
  const shown = rows.slice(from, from + pageSize);
  return {
    list: shown.map((row) => pick(toItem(row), query)),
    listCount: shown.length,
    totalCount: rows.length,
    pageCount: Math.ceil(rows.length / pageSize),
    pageSize,
    // All of its lists begin with page 1, but it accepts the old numbers.
    page: page === first ? 1 : page,
    ...(sorts !== undefined && { sorts }),
    sort,
    name: '',
  };
}

const SORTS =
  'active newest hottest votes viewCount usedCount answerCount answerCountAsc commentCount favoriteCount followers reportCount'.split(
    ' ',
  );

/** The sort orders in which equal items stand in another order: whether or not items show what they are sorted by. */
const TIED: ReadonlySet<string> = new Set(
  'active newest votes viewCount answerCount reportCount hottest favoriteCount followers usedCount'.split(' '),
);

interface NodeListOf {
  readonly types: readonly string[];
  readonly toItem: (row: Row) => Json;
  readonly parent: Row | undefined;
  readonly defaultSort: string;
}

function nodeList(
  data: Data,
  views: Map<number, number>,
  query: URLSearchParams,
  show: Show,
  { types, toItem, parent, defaultSort }: NodeListOf,
): Json {
  const asked = query.get('sort') ?? '';
  const sort = SORTS.includes(asked) ? asked : defaultSort;
  const children = (row: Row, test: (child: Row) => boolean) =>
    (data.children.get(row['id'] ?? 0) ?? []).filter(test).length;
  const answersOf = (row: Row) => children(row, ({ type }) => type === 'answer');
  const seen = (row: Row) => Number(row['views']) + (views.get(Number(row['id'])) ?? 0);
  const tags = (row: Row) =>
    (data.tags.get(row['id'] ?? 0) ?? []).map((tag) => data.topic.get(tag['topic_id'] ?? 0) ?? {});
  const keys: Readonly<Record<string, (row: Row) => number>> = {
    active: (row) => Number(row['last_active_at']),
    newest: (row) => Number(row['created_at']),
    hottest: (row) => Number(row['score']) * 20 + Number(row['views']) + answersOf(row) * 30,
    votes: (row) => Number(row['score']),
    viewCount: seen,
    usedCount: (row) => Math.max(0, ...tags(row).map((topic) => Number(topic['used_count']))),
    answerCount: answersOf,
    answerCountAsc: (row) => -answersOf(row),
    commentCount: (row) => children(row, isComment),
    favoriteCount: (row) => (data.likes.get(row['id'] ?? 0) ?? []).length,
    followers: (row) =>
      (data.followers.get(`node ${String(row['id'])}`) ?? []).filter((one) => one['active'] === 1).length,
    reportCount: (row) => Number(row['reports']),
    '': (row) => -Number(row['created_at']),
  };
  const filters = filtersIn(data, query, tags);
  const rows = (parent === undefined ? data.table('nodes') : (data.children.get(parent['id'] ?? 0) ?? []))
    .filter((row) => types.includes(String(row['type'])) && show.isVisible(row) && filters.every((test) => test(row)))
    .map((row) => ({ row, key: keys[sort]?.(row) ?? 0, id: Number(row['id']) }))
    .toSorted((a, b) => b.key - a.key || (TIED.has(sort) || sort === '' ? a.id - b.id : b.id - a.id))
    .map(({ row }) => row);
  const { from, pageSize } = pageIn(query, 1, 15);
  const page = envelope(rows, query, { first: 1, size: 15, sort, sorts: SORTS, toItem });
  for (const row of rows.slice(from, from + pageSize))
    views.set(Number(row['id']), (views.get(Number(row['id'])) ?? 0) + 1);
  return page;
}

function filtersIn(data: Data, query: URLSearchParams, tags: (row: Row) => readonly Row[]): ((row: Row) => boolean)[] {
  const words = (query.get('q') ?? '')
    .toLowerCase()
    .split(/\s+/)
    .map((word) => word.replaceAll('*', ''))
    .filter(Boolean);
  const listed = (name: string) =>
    query
      .getAll(name)
      .flatMap((value) => value.split(','))
      .map((one) => one.trim())
      .filter(Boolean);
  const [types, langs, topics] = [listed('type'), listed('lang'), listed('topics').map((one) => one.toLowerCase())];
  const space = query.get('spaceId') ?? query.get('space') ?? '';
  const unanswered = !['false', '0', 'no'].includes((query.get('unanswered') ?? 'no').toLowerCase());
  const texts = (row: Row) =>
    [row['title'], row['body'], ...tags(row).map((topic) => topic['name'])].map((text) =>
      String(text ?? '').toLowerCase(),
    );
  return [
    (row) => words.every((word) => texts(row).some((text) => text.includes(word))),
    (row) => types.length === 0 || types.includes(String(row['type'])),
    (row) => langs.length === 0 || langs.includes(String(row['lang'])),
    (row) => space === '' || String(shifted(row['space_id'])) === space,
    (row) =>
      topics.length === 0 ||
      tags(row).some(
        (topic) =>
          topics.includes(String(topic['name']).toLowerCase()) || topics.includes(String(shifted(topic['id']))),
      ),
    (row) => !unanswered || !(data.children.get(row['id'] ?? 0) ?? []).some(({ type }) => type === 'answer'),
  ];
}

type Order = (a: Row, b: Row) => number;

const text = (value: unknown) => String(value).toLowerCase();
const orders = (at: string, id: string): Readonly<Record<string, Order>> => ({
  username: (a, b) => (text(a['username']) < text(b['username']) ? -1 : 1),
  recent: (a, b) => Number(b[at]) - Number(a[at]) || Number(a[id]) - Number(b[id]),
  oldest: (a, b) => Number(a[at]) - Number(b[at]) || Number(a[id]) - Number(b[id]),
  // Users with the same reputation are listed the other way round.
  reputation: (a, b) => Number(b['reputation']) - Number(a['reputation']) || Number(b['id']) - Number(a['id']),
});

function peopleList(rows: readonly Row[], query: URLSearchParams, toItem: (row: Row) => Json): Json {
  const known = orders('created_at', 'id');
  const asked = query.get('sort') ?? '';
  const sort = Object.hasOwn(known, asked) ? asked : 'reputation';
  return envelope(rows.toSorted(known[sort]), query, { first: 1, size: 35, sort, toItem });
}

function followerList(data: Data, query: URLSearchParams, show: Show, kind: string, of: number): Json {
  const details = query.get('details')?.toLowerCase() === 'true';
  const onlyActive = query.get('active')?.toLowerCase() !== 'false';
  const asked = query.get('sort') ?? '';
  const known = orders('followed_at', 'follow_id');
  const sort = Object.hasOwn(known, asked) ? asked : '';
  const rows = (data.followers.get(`${kind} ${of}`) ?? [])
    .filter((one) => !onlyActive || one['active'] === 1)
    .map((one): Row => ({
      ...data.user.get(one['follower_id'] ?? 0),
      follow_id: one['id'] ?? 0,
      follow_active: one['active'] ?? 0,
      followed_at: one['created_at'] ?? 0,
    }))
    .toSorted(known[sort] ?? ((a, b) => Number(a['follow_id']) - Number(b['follow_id'])));
  const type = kind === 'topic' ? 'topic' : data.node.get(of)?.['type'];
  const relation = (row: Row): Json => ({
    id: shifted(row['follow_id']),
    type: 'followrelation',
    creationDate: row['followed_at'],
    creationDateFormatted: usDate(Number(row['followed_at'])),
    active: row['follow_active'] === 1,
    follower: show.user(row),
    followed: { id: shifted(of), type },
  });
  return envelope(rows, query, { first: 0, size: 35, sort, toItem: details ? relation : show.user });
}

/** The contract does not describe this date, so nothing but the same text is the same. */
function usDate(at: number): string {
  const date = new Date(at);
  const hour = date.getUTCHours();
  return `${two(date.getUTCMonth() + 1)}/${two(date.getUTCDate())}/${date.getUTCFullYear()} ${two(hour % 12 === 0 ? 12 : hour % 12)}:${two(date.getUTCMinutes())} ${hour < 12 ? 'AM' : 'PM'}`;
}

function actionList(data: Data, query: URLSearchParams, show: Show): Json {
  const { from, pageSize } = pageIn(query, 1, 20);
  const before = numberIn(query, 'moreResults') ?? Number.MAX_SAFE_INTEGER;
  const rows = data
    .table('actions')
    .filter((row) => Number(row['acted_at']) < before)
    .toSorted((a, b) => Number(b['acted_at']) - Number(a['acted_at']) || Number(b['id']) - Number(a['id']))
    .slice(from, from + pageSize);
  return { moreResults: rows.at(-1)?.['acted_at'] ?? 0, actions: rows.map((row) => pick(show.action(row), query)) };
}

/** Applies `include`, `exclude` and `includeOnly`. */
function pick(item: Json, query: URLSearchParams): Json {
  const paths = (name: string) =>
    query
      .getAll(name)
      .flatMap((value) => value.split(','))
      .map((one) => one.trim())
      .filter(Boolean);
  const [only, also, without] = [paths('includeOnly'), paths('include'), paths('exclude')];
  const kept = only.length === 0 ? item : (select(item, [...only, ...also], true) as Json);
  return without.length === 0 ? kept : (select(kept, without, false) as Json);
}

/** Returns a value with only the members that paths lead to, or without them. */
function select(value: unknown, paths: readonly string[], keep: boolean): unknown {
  if (Array.isArray(value)) return value.map((one: unknown) => select(one, paths, keep));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, member]: [string, unknown]) => {
      const inner = paths.flatMap((path) => (path.startsWith(`${key}.`) ? [path.slice(key.length + 1)] : []));
      if (paths.includes(key)) return keep ? [[key, member]] : [];
      if (inner.length > 0) return [[key, select(member, inner, keep)]];
      return keep ? [] : [[key, member]];
    }),
  );
}

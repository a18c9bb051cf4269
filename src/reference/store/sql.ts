import { inTransaction } from '../../lib/sqlite-transaction.ts';
import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite';

/** A database that caches prepared statements by their text. */
export interface Sql {
  all<Row>(text: string, ...values: SQLInputValue[]): Row[];
  // oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- the caller states the type of the selected row
  get<Row>(text: string, ...values: SQLInputValue[]): Row | undefined;
  run(text: string, ...values: SQLInputValue[]): void;
  script(text: string): void;
  /** Runs the function in a transaction, which is rolled back if the function throws. */
  transaction<Result>(work: () => Result): Result;
  /**
   * Returns a copy of the database, which can be passed to `openSql` to open an identical one. Undefined before Node
   * 26.1.
   */
  image(): Uint8Array | undefined;
  close(): void;
}

/** An SQLite connection. Older versions of Node lack the methods for copying a database. */
type Database = Omit<DatabaseSync, 'serialize' | 'deserialize'> &
  Partial<Pick<DatabaseSync, 'serialize' | 'deserialize'>>;

/** A value that can be bound to a statement. */
export type SqlValue = SQLInputValue;

/** Opens the SQLite database at a file path or `:memory:`. `image` becomes the content of an in-memory database. */
export function openSql(path: string, image?: Uint8Array): Sql {
  const database: Database = new DatabaseSync(path);
  if (image !== undefined) database.deserialize?.(image);
  const statements = new Map<string, StatementSync>();
  const prepared = (text: string): StatementSync => {
    const known = statements.get(text);
    if (known !== undefined) return known;
    const statement = database.prepare(text);
    // List queries are composed from request parameters, so the number of cached statements must be limited. When the
    // limit is reached, the oldest statement is removed.
    if (statements.size >= 500)
      for (const oldest of statements.keys()) {
        statements.delete(oldest);
        break;
      }
    statements.set(text, statement);
    return statement;
  };
  return {
    all: <Row>(text: string, ...values: SQLInputValue[]) => prepared(text).all(...values) as Row[],
    // oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- as declared above
    get: <Row>(text: string, ...values: SQLInputValue[]) => prepared(text).get(...values) as Row | undefined,
    run: (text, ...values) => void prepared(text).run(...values),
    script: (text) => database.exec(text),
    transaction: (work) => inTransaction(database, work),
    image: () => database.serialize?.(),
    close: () => {
      statements.clear();
      database.close();
    },
  };
}

/** The tables of the reference server. Times are in epoch milliseconds, flags are 0 or 1, and lists are JSON text. */
export const TABLES = `
CREATE TABLE sequences (name TEXT PRIMARY KEY, next INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE users (
  id INTEGER PRIMARY KEY, username TEXT NOT NULL UNIQUE, realname TEXT, email TEXT NOT NULL, password_hash TEXT NOT NULL,
  created_at INTEGER NOT NULL, modified_at INTEGER NOT NULL,
  gold INTEGER NOT NULL, silver INTEGER NOT NULL, bronze INTEGER NOT NULL, reputation INTEGER NOT NULL,
  admin INTEGER NOT NULL, superuser INTEGER NOT NULL, moderator INTEGER NOT NULL,
  active INTEGER NOT NULL DEFAULT 1, suspended INTEGER NOT NULL DEFAULT 0, deactivated INTEGER NOT NULL DEFAULT 0);
CREATE INDEX users_email ON users (email);
CREATE TABLE user_roles (user_id INTEGER NOT NULL, role TEXT NOT NULL, PRIMARY KEY (user_id, role)) WITHOUT ROWID;
CREATE TABLE groups (id INTEGER PRIMARY KEY, name TEXT NOT NULL, created_at INTEGER NOT NULL, modified_at INTEGER NOT NULL);
CREATE TABLE group_members (group_id INTEGER NOT NULL, user_id INTEGER NOT NULL, PRIMARY KEY (group_id, user_id)) WITHOUT ROWID;
CREATE INDEX group_members_user ON group_members (user_id);
CREATE TABLE spaces (id INTEGER PRIMARY KEY, name TEXT NOT NULL, slug TEXT NOT NULL, created_at INTEGER NOT NULL);
CREATE TABLE topics (
  id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, author_id INTEGER NOT NULL, parent_id INTEGER,
  created_at INTEGER NOT NULL, used_count INTEGER NOT NULL);
CREATE TABLE nodes (
  id INTEGER PRIMARY KEY, type TEXT NOT NULL, space_id INTEGER, parent_id INTEGER, root_id INTEGER NOT NULL,
  author_id INTEGER NOT NULL, title TEXT, slug TEXT, body TEXT NOT NULL, lang TEXT NOT NULL,
  created_at INTEGER NOT NULL, last_active_at INTEGER NOT NULL, last_active_user_id INTEGER NOT NULL,
  last_edited_action INTEGER NOT NULL, revision_ids TEXT NOT NULL, marked INTEGER NOT NULL, wiki INTEGER NOT NULL,
  score INTEGER NOT NULL, up_votes INTEGER NOT NULL, down_votes INTEGER NOT NULL, views INTEGER NOT NULL,
  reports INTEGER NOT NULL, depth INTEGER NOT NULL, states TEXT NOT NULL, visibility TEXT);
CREATE INDEX nodes_type ON nodes (type, last_active_at);
CREATE INDEX nodes_parent ON nodes (parent_id, type);
CREATE INDEX nodes_author ON nodes (author_id, type);
CREATE TABLE node_topics (
  node_id INTEGER NOT NULL, position INTEGER NOT NULL, topic_id INTEGER NOT NULL, PRIMARY KEY (node_id, position)) WITHOUT ROWID;
CREATE INDEX node_topics_topic ON node_topics (topic_id);
CREATE TABLE recipients (
  node_id INTEGER NOT NULL, kind TEXT NOT NULL, recipient_id INTEGER NOT NULL,
  PRIMARY KEY (node_id, kind, recipient_id)) WITHOUT ROWID;
CREATE TABLE attachments (
  id INTEGER PRIMARY KEY, node_id INTEGER NOT NULL, filename TEXT NOT NULL, mime_type TEXT NOT NULL,
  content BLOB NOT NULL, created_at INTEGER NOT NULL);
CREATE INDEX attachments_node ON attachments (node_id);
CREATE TABLE actions (
  id INTEGER PRIMARY KEY, verb TEXT NOT NULL, user_id INTEGER NOT NULL, node_id INTEGER NOT NULL, node_type TEXT NOT NULL,
  ip TEXT NOT NULL, acted_at INTEGER NOT NULL, extra TEXT, private INTEGER NOT NULL,
  canceled_at INTEGER, canceled_by INTEGER);
CREATE INDEX actions_acted ON actions (acted_at, id);
CREATE INDEX actions_node ON actions (node_id, verb);
CREATE TABLE favorites (
  user_id INTEGER NOT NULL, node_id INTEGER NOT NULL, action_id INTEGER NOT NULL, PRIMARY KEY (user_id, node_id)) WITHOUT ROWID;
CREATE INDEX favorites_node ON favorites (node_id);
CREATE TABLE follows (
  id INTEGER PRIMARY KEY, follower_id INTEGER NOT NULL, kind TEXT NOT NULL, target_id INTEGER NOT NULL,
  active INTEGER NOT NULL, created_at INTEGER NOT NULL, UNIQUE (kind, target_id, follower_id));
CREATE INDEX follows_follower ON follows (follower_id, kind);
CREATE TABLE gdpr_files (id INTEGER PRIMARY KEY, uploaded_by INTEGER NOT NULL, created_at INTEGER NOT NULL);
CREATE TABLE gdpr_file_users (file_id INTEGER NOT NULL, user_id INTEGER NOT NULL, PRIMARY KEY (file_id, user_id)) WITHOUT ROWID;
CREATE TABLE gdpr_jobs (
  id INTEGER PRIMARY KEY, file_id INTEGER NOT NULL, operations TEXT NOT NULL, user_id INTEGER NOT NULL,
  due_at INTEGER NOT NULL, finished_at INTEGER);
CREATE TABLE gdpr_executions (
  id INTEGER PRIMARY KEY, job_id INTEGER NOT NULL, user_id INTEGER NOT NULL, status TEXT NOT NULL);
CREATE INDEX gdpr_executions_job ON gdpr_executions (job_id);
CREATE TABLE tokens (token TEXT PRIMARY KEY, user_id INTEGER NOT NULL, created_at INTEGER NOT NULL) WITHOUT ROWID;
`;

/** The name of an id sequence. Nodes, topics and spaces share the `content` sequence. */
type SequenceName = 'content' | 'actions' | 'revisions' | 'gdpr';

/** Returns the next id in a sequence. */
export function nextId(sql: Sql, name: SequenceName): number {
  const row = sql.get<{ id: number }>(
    'UPDATE sequences SET next = next + 1 WHERE name = ? RETURNING next - 1 AS id',
    name,
  );
  if (row === undefined) throw new Error(`sequence ${name} does not exist`);
  return row.id;
}

/** A row of `users`. */
export interface UserRow {
  readonly id: number;
  readonly username: string;
  readonly realname: string | null;
  readonly email: string;
  readonly password_hash: string;
  readonly created_at: number;
  readonly modified_at: number;
  readonly gold: number;
  readonly silver: number;
  readonly bronze: number;
  readonly reputation: number;
  readonly admin: number;
  readonly superuser: number;
  readonly moderator: number;
  readonly active: number;
  readonly suspended: number;
  readonly deactivated: number;
}

/** A row of `nodes`: question, answer, comment, idea, idea comment or article. */
export interface NodeRow {
  readonly id: number;
  readonly type: string;
  readonly space_id: number | null;
  readonly parent_id: number | null;
  readonly root_id: number;
  readonly author_id: number;
  readonly title: string | null;
  readonly slug: string | null;
  readonly body: string;
  readonly lang: string;
  readonly created_at: number;
  readonly last_active_at: number;
  readonly last_active_user_id: number;
  readonly last_edited_action: number;
  /** A JSON array as text, because revision ids can exceed 2^53. */
  readonly revision_ids: string;
  readonly marked: number;
  readonly wiki: number;
  readonly score: number;
  readonly up_votes: number;
  readonly down_votes: number;
  readonly views: number;
  readonly reports: number;
  readonly depth: number;
  readonly states: string;
  readonly visibility: string | null;
}

/** A row of `topics`. */
export interface TopicRow {
  readonly id: number;
  readonly name: string;
  readonly author_id: number;
  readonly parent_id: number | null;
  readonly created_at: number;
  readonly used_count: number;
}

/** A row of `actions`. */
export interface ActionRow {
  readonly id: number;
  readonly verb: string;
  readonly user_id: number;
  readonly node_id: number;
  readonly node_type: string;
  readonly ip: string;
  readonly acted_at: number;
  readonly extra: string | null;
  readonly private: number;
  readonly canceled_at: number | null;
  readonly canceled_by: number | null;
}

/** A row of `attachments`. */
export interface AttachmentRow {
  readonly id: number;
  readonly node_id: number;
  readonly filename: string;
  readonly mime_type: string;
  readonly content: Uint8Array;
  readonly created_at: number;
}

/** A row of `gdpr_jobs`. */
export interface GdprJobRow {
  readonly id: number;
  readonly file_id: number;
  readonly operations: string;
  readonly user_id: number;
  readonly due_at: number;
  readonly finished_at: number | null;
}

import { parse } from 'csv-parse/sync';
import type { ReferenceContext } from './http/route.ts';
import { parseScheduleTime, toScheduleTime } from './render/text.ts';
import { type GdprJobRow, nextId, type Sql } from './store/sql.ts';

/** The operations that a GDPR job can perform on a user (docs/field-facts.md, grade D). */
const GDPR_OPERATIONS = ['suspend', 'anonymize', 'delete', 'anon-delete'] as const;

type GdprOperation = (typeof GDPR_OPERATIONS)[number];

const ANONYMIZE = `UPDATE users SET username = 'anonymous-' || id, realname = NULL,
  email = 'anonymous-' || id || '@anonymized.invalid', modified_at = ?1 WHERE id = ?2`;
const DELETE = 'UPDATE users SET active = 0, deactivated = 1, modified_at = ?1 WHERE id = ?2';

const STATEMENTS: Readonly<Record<GdprOperation, readonly string[]>> = {
  suspend: ['UPDATE users SET suspended = 1, modified_at = ?1 WHERE id = ?2'],
  anonymize: [ANONYMIZE],
  delete: [DELETE],
  'anon-delete': [ANONYMIZE, DELETE],
};

/**
 * Performs one operation on one user. The operations only rename or deactivate the account, so the user's content
 * remains.
 */
export function applyGdprOperation(sql: Sql, operation: GdprOperation, userId: number, now: number): void {
  for (const statement of STATEMENTS[operation]) sql.run(statement, now, userId);
}

function runJob(sql: Sql, job: GdprJobRow, now: number): void {
  const users = sql.all<{ user_id: number }>(
    'SELECT user_id FROM gdpr_file_users WHERE file_id = ? ORDER BY user_id',
    job.file_id,
  );
  for (const { user_id: userId } of users) {
    for (const operation of job.operations.split(',')) applyGdprOperation(sql, operation as GdprOperation, userId, now);
    const text = "INSERT INTO gdpr_executions (id, job_id, user_id, status) VALUES (?, ?, ?, 'FINISHED')";
    sql.run(text, nextId(sql, 'gdpr'), job.id, userId);
  }
  sql.run('UPDATE gdpr_jobs SET finished_at = ? WHERE id = ?', now, job.id);
}

/** Finishes all due jobs. Called before each request, so that no timer is needed. */
export function runDueJobs(sql: Sql, now: number): void {
  const due = sql.all<GdprJobRow>(
    'SELECT * FROM gdpr_jobs WHERE finished_at IS NULL AND due_at <= ? ORDER BY due_at, id',
    now,
  );
  if (due.length > 0) sql.transaction(() => due.forEach((job) => runJob(sql, job, now)));
}

/** A requested job, or a description of the problem with the request. */
type ScheduleRequest =
  { readonly fileId: number; readonly operations: string; readonly dueAt: number } | { readonly problem: string };

const KNOWN: ReadonlySet<string> = new Set(GDPR_OPERATIONS);

function readOperations(value: unknown): string[] {
  const names: unknown[] = Array.isArray(value) ? value : typeof value === 'string' ? value.split(',') : [];
  return names.map((name) => (typeof name === 'string' ? name.trim() : ''));
}

/**
 * Parses `{fileId, operations, scheduleTime}`. `operations` is an array or a comma-separated string. Without
 * `scheduleTime`, the job is due at `now` (epoch milliseconds).
 */
export function readScheduleRequest(body: unknown, now: number): ScheduleRequest {
  const { fileId, operations, scheduleTime } = (typeof body === 'object' && body !== null ? body : {}) as Record<
    string,
    unknown
  >;
  const id = typeof fileId === 'string' && /^\d{1,15}$/.test(fileId) ? Number(fileId) : fileId;
  if (typeof id !== 'number' || !Number.isSafeInteger(id)) return { problem: "The provided 'fileId' is/are invalid" };
  const names = readOperations(operations);
  if (names.length === 0 || !names.every((name) => KNOWN.has(name))) {
    return { problem: "The provided 'operations' is/are invalid" };
  }
  const absent = scheduleTime === undefined || scheduleTime === null;
  const dueAt = absent ? now : typeof scheduleTime === 'string' ? parseScheduleTime(scheduleTime) : undefined;
  if (dueAt === undefined) return { problem: "The provided 'scheduleTime' is/are invalid" };
  return { fileId: id, operations: names.join(','), dueAt };
}

interface ExecutionRow {
  readonly id: number;
  readonly user_id: number;
  readonly status: string;
}

/**
 * Renders a GDPR job. Only a finished job has `executions`, each with the absolute URL of its status. `userId` is the user
 * who scheduled the job (choice `job-user`).
 */
export function toGdprJob(context: ReferenceContext, job: GdprJobRow): Record<string, unknown> {
  const { sql, url } = context;
  const shown = {
    id: job.id,
    scheduleTime: toScheduleTime(job.due_at),
    operations: job.operations,
    userId: job.user_id,
    status: job.finished_at === null ? 'PENDING' : 'FINISHED',
  };
  if (job.finished_at === null) return shown;
  const rows = sql.all<ExecutionRow>('SELECT * FROM gdpr_executions WHERE job_id = ? ORDER BY id', job.id);
  const executions = rows.map((row) => ({
    userId: row.user_id,
    executionStatus: row.status,
    executionURL: `${url}/services/v2/users/gdpr/execution/${row.id}/status.json`,
  }));
  return { ...shown, executions };
}

/** The non-empty cells of one CSV row. */
type GdprCsvRow = Readonly<Partial<Record<'email' | 'userId' | 'username', string>>>;

/** The rows in a valid file, or a description of the problem with the file. */
type GdprCsv = { readonly rows: readonly GdprCsvRow[] } | { readonly problem: string };

const HEADERS: ReadonlySet<string> = new Set(['email', 'userId', 'username', 'userId,username', 'username,userId']);

/**
 * Parses the uploaded CSV file: a header with the allowed columns, followed by one row per user. The texts of the problems
 * are choices (choice `csv-errors`).
 */
export function parseGdprCsv(content: string): GdprCsv {
  let records: string[][];
  try {
    records = parse(content, { bom: true, trim: true, skip_empty_lines: true });
  } catch {
    return { problem: 'The provided file is not a valid CSV.' };
  }
  const [header = [], ...lines] = records;
  if (!HEADERS.has(header.join(','))) return { problem: 'The provided file does not have a valid header.' };
  const rows = lines.map((cells) => {
    const named = header.map((column, index): [string, string] => [column, cells[index] ?? '']);
    return Object.fromEntries(named.filter(([, cell]) => cell !== ''));
  });
  return { rows };
}

/**
 * Returns the distinct ids of the users in the rows. Skips unknown users, and rows whose cells identify different
 * users.
 */
export function findCsvUsers(sql: Sql, rows: readonly GdprCsvRow[]): number[] {
  const found = new Set<number>();
  for (const { email, userId, username } of rows) {
    if (email === undefined && userId === undefined && username === undefined) continue;
    const match = sql.get<{ id: number }>(
      `SELECT id FROM users WHERE (?1 IS NULL OR lower(email) = lower(?1)) AND (?2 IS NULL OR CAST(id AS TEXT) = ?2)
       AND (?3 IS NULL OR username = ?3)`,
      email ?? null,
      userId ?? null,
      username ?? null,
    );
    if (match !== undefined) found.add(match.id);
  }
  return [...found];
}

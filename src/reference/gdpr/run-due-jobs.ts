import { nextId } from '../store/next-id.ts';
import type { GdprJobRow } from '../store/rows.ts';
import type { Sql } from '../store/sql.ts';
import { applyGdprOperation, type GdprOperation } from './gdpr-operations.ts';

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

/** Finishes every pending job whose schedule time has come. Called before each request, so no timer runs between them. */
export function runDueJobs(sql: Sql, now: number): void {
  const due = sql.all<GdprJobRow>(
    'SELECT * FROM gdpr_jobs WHERE finished_at IS NULL AND due_at <= ? ORDER BY due_at, id',
    now,
  );
  if (due.length > 0) sql.transaction(() => due.forEach((job) => runJob(sql, job, now)));
}

import { DAY_MS } from '../../lib/clock.ts';
import { applyGdprOperation } from '../gdpr-jobs.ts';
import type { Sql } from '../store/sql.ts';
import { SEED_END } from './seed-words.ts';

// Far in the future, so that the jobs stay pending.
const FAR_FUTURE = Date.UTC(2099, 0, 15, 3, 30);
const ADMIN = 1;

const JOBS = [
  { operations: 'suspend', userIds: [57], dueAt: SEED_END - 40 * DAY_MS, finished: true },
  { operations: 'anonymize', userIds: [58, 59], dueAt: SEED_END - 20 * DAY_MS, finished: true },
  { operations: 'suspend', userIds: [54], dueAt: FAR_FUTURE, finished: false },
  { operations: 'anonymize', userIds: [55, 56], dueAt: FAR_FUTURE + DAY_MS, finished: false },
] as const;

/** Inserts uploaded files with pending and finished jobs, and applies the finished jobs. Returns the next id. */
export function seedGdprJobs(sql: Sql): number {
  let id = 1;
  for (const { operations, userIds, dueAt, finished } of JOBS) {
    const fileId = id++;
    sql.run('INSERT INTO gdpr_files VALUES (?, ?, ?)', fileId, ADMIN, SEED_END - 60 * DAY_MS);
    for (const userId of userIds) sql.run('INSERT INTO gdpr_file_users VALUES (?, ?)', fileId, userId);
    const jobId = id++;
    const finishedAt = finished ? dueAt : null;
    sql.run('INSERT INTO gdpr_jobs VALUES (?, ?, ?, ?, ?, ?)', jobId, fileId, operations, ADMIN, dueAt, finishedAt);
    if (!finished) continue;
    for (const userId of userIds) {
      applyGdprOperation(sql, operations, userId, dueAt);
      sql.run("INSERT INTO gdpr_executions VALUES (?, ?, ?, 'FINISHED')", id++, jobId, userId);
    }
  }
  return id;
}

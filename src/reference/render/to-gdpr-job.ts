import type { ReferenceContext } from '../reference-context.ts';
import type { GdprJobRow } from '../store/rows.ts';
import { toScheduleTime } from './text.ts';

interface ExecutionRow {
  readonly id: number;
  readonly user_id: number;
  readonly status: string;
}

/** Renders a GDPR job. Only a finished job has `executions`, each with the absolute URL of its status. */
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

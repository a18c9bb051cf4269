import { requireAdministrator, requireCredential } from '../http/caller.ts';
import { jsonResponse, notFound, plainError, refuse } from '../http/legacy-response.ts';
import { type LegacyRoute, readPathId } from '../http/route.ts';
import { readScheduleRequest, runDueJobs, toGdprJob } from '../gdpr-jobs.ts';
import { type GdprJobRow, nextId } from '../store/sql.ts';

/** Undocumented routes for GDPR jobs: scheduling a job for an uploaded file, and reading an execution's status. */
export const gdprRoutes: readonly LegacyRoute[] = [
  {
    method: 'POST',
    path: '/services/v2/jobs/gdpr/schedule.json',
    respond: ({ caller, body }, context) => {
      const { sql, clock } = context;
      requireAdministrator(caller);
      const requested = readScheduleRequest(body, clock());
      if ('problem' in requested) refuse(plainError(400, requested.problem));
      const file = sql.get('SELECT 1 FROM gdpr_files WHERE id = ?', requested.fileId);
      if (file === undefined) refuse(plainError(400, "The provided 'fileId' is/are invalid"));
      const id = nextId(sql, 'gdpr');
      const text = 'INSERT INTO gdpr_jobs (id, file_id, operations, user_id, due_at) VALUES (?, ?, ?, ?, ?)';
      sql.run(text, id, requested.fileId, requested.operations, caller.id, requested.dueAt);
      runDueJobs(sql, clock());
      const job = sql.get<GdprJobRow>('SELECT * FROM gdpr_jobs WHERE id = ?', id);
      return job === undefined ? notFound() : jsonResponse(toGdprJob(context, job), 201);
    },
  },
  {
    method: 'GET',
    path: '/services/v2/users/gdpr/execution/:executionId/status.json',
    respond: ({ caller, param }, { sql }) => {
      requireCredential(caller);
      const id = readPathId(param('executionId'), 'execution id');
      const text =
        'SELECT id, job_id AS jobId, user_id AS userId, status AS executionStatus FROM gdpr_executions WHERE id = ?';
      const execution = sql.get<object>(text, id);
      return execution === undefined ? notFound() : jsonResponse({ ...execution });
    },
  },
];

import { findCsvUsers, parseGdprCsv, toGdprJob } from '../gdpr-jobs.ts';
import { requireAdministrator, requireCredential } from '../http/caller.ts';
import { notFound, plainError, refuse, jsonResponse } from '../http/legacy-response.ts';
import { type LegacyRoute, readPathId } from '../http/route.ts';
import { type GdprJobRow, nextId } from '../store/sql.ts';

function contentOf(body: unknown): string {
  const content = typeof body === 'object' && body !== null && 'content' in body ? body.content : undefined;
  if (typeof content !== 'string' || content.trim() === '') refuse(plainError(400, "The 'content' is missing."));
  return content;
}

/**
 * Operation 1: stores the users listed in a CSV file, and returns a number (choice `file-id`). The schedule route creates
 * jobs for the stored file.
 */
export const uploadGdprFile: LegacyRoute = {
  operation: 1,
  method: 'POST',
  path: '/services/v2/users/gdpr/upload.json',
  respond: ({ caller, body }, { sql, clock }) => {
    requireAdministrator(caller);
    const csv = parseGdprCsv(contentOf(body));
    if ('problem' in csv) refuse(plainError(400, csv.problem));
    const userIds = findCsvUsers(sql, csv.rows);
    if (userIds.length === 0) refuse(plainError(400, 'The provided file does not have a valid user.'));
    const fileId = sql.transaction(() => {
      const id = nextId(sql, 'gdpr');
      sql.run('INSERT INTO gdpr_files (id, uploaded_by, created_at) VALUES (?, ?, ?)', id, caller.id, clock());
      for (const userId of userIds) sql.run('INSERT INTO gdpr_file_users (file_id, user_id) VALUES (?, ?)', id, userId);
      return id;
    });
    return jsonResponse({ fileId }, 201);
  },
};

/** Operation 2: one GDPR job. Requires a credential but no permission. */
export const getGdprJob: LegacyRoute = {
  operation: 2,
  method: 'GET',
  path: '/services/v2/jobs/gdpr/:jobId.json',
  respond: ({ caller, param }, context) => {
    requireCredential(caller);
    const id = readPathId(param('jobId'), 'job id');
    const job = context.sql.get<GdprJobRow>('SELECT * FROM gdpr_jobs WHERE id = ?', id);
    if (job === undefined) refuse(notFound());
    return jsonResponse(toGdprJob(context, job));
  },
};

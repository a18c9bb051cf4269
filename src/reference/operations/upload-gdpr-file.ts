import { demandAdministrator } from '../access/demand.ts';
import { jsonAnswer } from '../answers/legacy-answer.ts';
import { plainError } from '../answers/legacy-errors.ts';
import { refuse } from '../answers/legacy-refusal.ts';
import type { LegacyRoute } from '../answers/legacy-route.ts';
import { findCsvUsers } from '../gdpr/find-csv-users.ts';
import { parseGdprCsv } from '../gdpr/parse-gdpr-csv.ts';
import { nextId } from '../store/next-id.ts';

function contentOf(body: unknown): string {
  const content = typeof body === 'object' && body !== null && 'content' in body ? body.content : undefined;
  if (typeof content !== 'string' || content.trim() === '') refuse(plainError(400, "The 'content' is missing."));
  return content;
}

/** Operation 1: stores the users that a CSV names; jobs are made of the stored file at the schedule address. */
export const uploadGdprFile: LegacyRoute = {
  operation: 1,
  method: 'POST',
  path: '/services/v2/users/gdpr/upload.json',
  answer: ({ caller, body }, { sql, clock }) => {
    demandAdministrator(caller);
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
    return jsonAnswer({ fileId }, 201);
  },
};

import { demandCredential } from '../access/demand.ts';
import { jsonAnswer } from '../answers/legacy-answer.ts';
import { notFound } from '../answers/legacy-errors.ts';
import { refuse } from '../answers/legacy-refusal.ts';
import type { LegacyRoute } from '../answers/legacy-route.ts';
import { toGdprJob } from '../render/to-gdpr-job.ts';
import { readPathId } from '../store/path-id.ts';
import type { GdprJobRow } from '../store/rows.ts';

/** Operation 2: one GDPR job; a credential is all that it needs. */
export const getGdprJob: LegacyRoute = {
  operation: 2,
  method: 'GET',
  path: '/services/v2/jobs/gdpr/:jobId.json',
  answer: ({ caller, param }, context) => {
    demandCredential(caller);
    const id = readPathId(param('jobId'), 'job id');
    const job = context.sql.get<GdprJobRow>('SELECT * FROM gdpr_jobs WHERE id = ?', id);
    if (job === undefined) refuse(notFound());
    return jsonAnswer(toGdprJob(context, job));
  },
};

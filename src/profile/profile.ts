import type { Profile } from '../engine/contract/api-profile.ts';
import { BASE_PATH } from './base-path.ts';
import { comments } from './comments/comments.ts';
import { commentVisibility } from './comments/comment-visibility.ts';
import { exploration } from './exploration.ts';
import { gdpr } from './gdpr/gdpr.ts';
import { gdprCsv } from './gdpr/gdpr-csv.ts';
import { issueTracker } from './issue-tracker.ts';
import { findOwner, nodes } from './ownership.ts';
import { PATH_WORDS } from './path-words.ts';
import { purgedBy } from './purged-by.ts';
import { reference } from './reference-options.ts';
import { serverErrors } from './server-errors.ts';
import { SEMANTIC_RULES } from './semantic-rules.ts';

/** The configuration keys of the community Q&A API, and the stages that belong to them. */
export const PROFILE_FEATURES = [gdpr, comments, issueTracker, reference] as const;

/** The profile of the community Q&A API. */
export const PROFILE: Profile = {
  basePath: BASE_PATH,
  semanticRules: SEMANTIC_RULES,
  requestRules: [gdprCsv, commentVisibility],
  serverErrors,
  pathWords: PATH_WORDS,
  // The server answers 401, 403 or 404, depending on the credential, and never does anything.
  probePath: `${BASE_PATH}jobs/gdpr/0.json`,
  exploration,
  items: nodes,
  examples: {
    operation: 'listQuestions',
    accepted: 'question.json?pageSize=3',
    invalid: 'question.json?page=x',
    restricted: 'group/1/user.json',
  },
  findOwner,
  purgedBy,
};

import type { LegacyRoute } from './http/route.ts';
import { listActions } from './operations/actions.ts';
import {
  createComment,
  getComment,
  listAnswerComments,
  listNodeComments,
  updateComment,
} from './operations/comments.ts';
import { getGdprJob, uploadGdprFile } from './operations/gdpr.ts';
import { cancelWiki, unmarkFavorite } from './operations/marks.ts';
import { copyAttachments, listArticles, listIdeas, listQuestions } from './operations/nodes.ts';
import { listExpertise, listGroupUsers, listNodeFollowers, listTopicFollowers } from './operations/people.ts';
import { askQuestionRoute, contentRoutes } from './undocumented/content.ts';
import { attachmentContentRoute, ticketRoutes } from './undocumented/tickets.ts';
import { authTokenRoute, peopleRoutes } from './undocumented/people.ts';
import { gdprRoutes } from './undocumented/gdpr-schedule.ts';
import { markRoutes } from './undocumented/marks.ts';

/**
 * All routes of the reference server: the documented operations in order of their numbers, followed by the comment
 * writes and the undocumented routes.
 */
export const ROUTES: readonly LegacyRoute[] = [
  uploadGdprFile,
  getGdprJob,
  copyAttachments,
  getComment,
  listNodeComments,
  listQuestions,
  listActions,
  listIdeas,
  listGroupUsers,
  listTopicFollowers,
  unmarkFavorite,
  cancelWiki,
  listArticles,
  listNodeFollowers,
  listExpertise,
  listAnswerComments,
  createComment,
  updateComment,
  askQuestionRoute,
  authTokenRoute,
  attachmentContentRoute,
  ...contentRoutes,
  ...gdprRoutes,
  ...markRoutes,
  ...peopleRoutes,
  ...ticketRoutes,
];

import type { LegacyRoute } from './answers/legacy-route.ts';
import { cancelWiki } from './operations/cancel-wiki.ts';
import { copyAttachments } from './operations/copy-attachments.ts';
import { createComment } from './operations/create-comment.ts';
import { getComment } from './operations/get-comment.ts';
import { getGdprJob } from './operations/get-gdpr-job.ts';
import { listActions } from './operations/list-actions.ts';
import { listAnswerComments } from './operations/list-answer-comments.ts';
import { listArticles } from './operations/list-articles.ts';
import { listExpertise } from './operations/list-expertise.ts';
import { listGroupUsers } from './operations/list-group-users.ts';
import { listIdeas } from './operations/list-ideas.ts';
import { listNodeComments } from './operations/list-node-comments.ts';
import { listNodeFollowers } from './operations/list-node-followers.ts';
import { listQuestions } from './operations/list-questions.ts';
import { listTopicFollowers } from './operations/list-topic-followers.ts';
import { unmarkFavorite } from './operations/unmark-favorite.ts';
import { updateComment } from './operations/update-comment.ts';
import { uploadGdprFile } from './operations/upload-gdpr-file.ts';
import { askQuestionRoute } from './undocumented/ask-question.ts';
import { attachmentContentRoute } from './undocumented/attachment-content.ts';
import { authTokenRoute } from './undocumented/auth-token.ts';
import { contentRoutes } from './undocumented/content.ts';
import { gdprRoutes } from './undocumented/gdpr-schedule.ts';
import { markRoutes } from './undocumented/marks.ts';
import { peopleRoutes } from './undocumented/people.ts';
import { placeRoutes } from './undocumented/places.ts';
import { ticketRoutes } from './undocumented/tickets.ts';

/** Every address of the reference server: the documented operations by number, comment writing, the undocumented ones. */
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
  ...placeRoutes,
  ...ticketRoutes,
];

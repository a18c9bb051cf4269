import type { LegacyRoute } from './http/route.ts';
import * as actions from './operations/actions.ts';
import * as comments from './operations/comments.ts';
import * as gdpr from './operations/gdpr.ts';
import * as marks from './operations/marks.ts';
import * as nodes from './operations/nodes.ts';
import * as people from './operations/people.ts';
import { askQuestionRoute, contentRoutes } from './undocumented/content.ts';
import { attachmentContentRoute, ticketRoutes } from './undocumented/tickets.ts';
import { authTokenRoute, peopleRoutes } from './undocumented/people.ts';
import { gdprRoutes } from './undocumented/gdpr-schedule.ts';
import { markRoutes } from './undocumented/marks.ts';

/** The routes of the documented operations: all that the modules in `operations/` export. */
const DOCUMENTED: readonly LegacyRoute[] = [actions, comments, gdpr, marks, nodes, people].flatMap((module) =>
  Object.values<LegacyRoute | ((...args: never) => unknown)>({ ...module }).filter((one) => typeof one === 'object'),
);

/** All routes of the reference server: the documented operations, followed by the undocumented routes. */
export const ROUTES: readonly LegacyRoute[] = [
  ...DOCUMENTED,
  askQuestionRoute,
  authTokenRoute,
  attachmentContentRoute,
  ...contentRoutes,
  ...gdprRoutes,
  ...markRoutes,
  ...peopleRoutes,
  ...ticketRoutes,
];

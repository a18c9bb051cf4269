import express from 'express';
import type { AdminRoute } from '../../engine/http/admin-route.ts';
import type { OperatorAction } from '../../engine/model/operator-action.ts';
import { auditEntryJson } from './audit-entry.ts';

/** Returns the admin side's route that shows the audit trail, newest entry first. */
export function auditRoute(actions: () => Promise<readonly OperatorAction[]>): AdminRoute {
  return {
    path: '/audit',
    access: 'operator',
    handler: express.Router().get('/', async (_req, res) => {
      res.json({ entries: (await actions()).map(auditEntryJson).toReversed() });
    }),
  };
}
